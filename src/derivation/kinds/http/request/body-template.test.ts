import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../../../../contract/json/json.ts'
import { ContractError } from '../../../../errors/service-error.ts'
import type { InputValues } from '../../../definition/derivation-kind.ts'
import { testContract } from '../../../testing/test-contract.ts'
import { bodyFields, parseBodyTemplate, renderBody } from './body-template.ts'
import type { BodyTemplate } from './body-template.ts'

const contract = testContract({ x: 'string', y: 'string', n: 'number' })

function parse(template: JsonValue): BodyTemplate {
  return parseBodyTemplate(template, {
    contract,
    fail: (message) => {
      throw new ContractError(message)
    },
  })
}

function render(template: JsonValue, inputs: InputValues): JsonValue {
  return renderBody(parse(template), inputs)
}

test('D21: a string that is exactly one placeholder becomes the value itself, with its type', () => {
  const template = { a: '{{ x }}', b: ['{{n}}', 1, true, null, 'lit'], c: { d: '{{ y }}' } }
  assert.deepEqual(render(template, { x: 'he said "hi"', n: 1.5, y: { k: [1] } }), {
    a: 'he said "hi"',
    b: [1.5, 1, true, null, 'lit'],
    c: { d: { k: [1] } },
  })
})

test('D21: a placeholder inside a longer string becomes text', () => {
  assert.deepEqual(render({ a: 'x={{ x }}, n={{ n }}', b: ' {{ n }}' }, { x: '"q"', n: 2 }), {
    a: 'x="q", n=2',
    b: ' 2',
  })
})

test('D21, D22: a null or absent value is null in a body, and the text null inside a longer string', () => {
  assert.deepEqual(render({ a: '{{ x }}', b: '{{ y }}', c: 'n: {{ n }}' }, { x: null }), {
    a: null,
    b: null,
    c: 'n: null',
  })
})

test('D21: text that parses as JSON is that structure', () => {
  assert.deepEqual(render('{"a": "{{ n }}", "b": ["v{{ n }}"]}', { n: 3 }), { a: 3, b: ['v3'] })
  assert.deepEqual(render('"{{ x }}"', { x: 'q' }), 'q')
  assert.deepEqual(render('7', {}), 7)
})

test('D21: text that is JSON once placeholders are null has them replaced by JSON', () => {
  assert.deepEqual(render('{"a": {{ x }}, "n": {{n}}, "l": [{{ y }}]}', { x: '"q"\\', n: 3, y: null }), {
    a: '"q"\\',
    n: 3,
    l: [null],
  })
  assert.deepEqual(render('{{ x }}', { x: 'whole' }), 'whole')
  assert.deepEqual(render('{"a":{"b":{{x}}}}', { x: [1] }), { a: { b: [1] } })
})

test('H2: within quotes of a text template a placeholder is part of the string, whatever surrounds them', () => {
  const template = '{"a": {{ x }}, "b": "hi {{ y }}", "c": "{{ n }}", "\\"d\\\\": "e\\"{{ y }}\\""}'
  assert.deepEqual(render(template, { x: 'X', y: '"Y"\n', n: 4 }), {
    a: 'X',
    b: 'hi "Y"\n',
    c: 4,
    '"d\\': 'e""Y"\n"',
  })
})

test('H2: a text template makes JSON of every value, and has the same meaning as its structure', () => {
  const template = '{"bare": {{ x }}, "quoted": "{{ x }}", "text": "<{{ x }}>", "list": [{{ x }}, "{{ x }}"]}'
  const structure = { bare: '{{ x }}', quoted: '{{ x }}', text: '<{{ x }}>', list: ['{{ x }}', '{{ x }}'] }
  const values: JsonValue[] = [
    '',
    '"',
    '\\',
    '\\"',
    '}}',
    '{{ y }}',
    '\u2028\n\0',
    '","a":"',
    1e21,
    -0.5,
    true,
    null,
  ]
  values.push([], ['"'], {}, { '"': '\\' })
  for (const x of values) {
    const body = render(template, { x })
    assert.deepEqual(JSON.parse(JSON.stringify(body)), body)
    assert.deepEqual(body, render(structure, { x }))
    assert.deepEqual((body as { bare: JsonValue }).bare, x)
  }
})

for (const template of [
  'hello {{ x }}',
  'hello',
  '',
  '{"a": {{ x }}',
  '{ {{ x }}: 1 }',
  '1{{ n }}',
  '{"a": {{ x }}{{ y }}}',
  '{{ x }} {{ y }}',
  "{'a': {{ x }}}",
  '{"a": 1e400, "b": {{ x }}}',
  '[-1e400]',
  '['.repeat(600) + ']'.repeat(600),
  '['.repeat(100_000) + ']'.repeat(100_000),
]) {
  test(`D21: the text template ${JSON.stringify(template.slice(0, 40))} is a ContractError`, () => {
    assert.throws(() => parse(template), ContractError)
    assert.throws(() => parse(template), /body_template is text that is not JSON/)
  })
}

test('D20: bad placeholders in a body are ContractErrors wherever they are', () => {
  for (const template of [
    '{{ z }}',
    '{"a": {{ z }}}',
    '{"a": "{{ z }}"}',
    { a: ['{{ z }}'] },
    { a: 'x {{ z }}' },
  ]) {
    assert.throws(() => parse(template), /\{\{ z \}\} is no field of the contract/)
  }
  assert.throws(() => parse({ a: '{{ env.KEY }}' }), /allowed in header values only/)
  assert.throws(() => parse({ '{{ x }}': 1 }), /placeholder in the key/)
  assert.throws(() => parse({ a: '{{ x' }), /not closed/)
})

test('D24: text with a lone surrogate, which has no canonical JSON, is a ContractError in a value and in a key', () => {
  for (const template of ['{"a": ["\\ud800"]}', '{"\\udc00": 1}', '{"a": {{ x }}, "b": "{{ y }} \\ud800"}']) {
    assert.throws(() => parse(template), ContractError)
    assert.throws(() => parse(template), /lone surrogate/)
  }
  assert.deepEqual(render('{"a": "\\ud83d\\ude00"}', {}), { a: '😀' })
})

test('a key called __proto__ stays a key', () => {
  const body = render('{"__proto__": {{ x }}}', { x: 1 })
  assert.equal(JSON.stringify(body), '{"__proto__":1}')
})

test('the fields of a body are those of all its placeholders', () => {
  assert.deepEqual(bodyFields(parse({ a: '{{ x }}', b: ['{{ n }} {{ y }}', 'lit', 1] })), ['x', 'n', 'y'])
})
