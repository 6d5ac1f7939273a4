import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../../../errors/service-error.ts'
import type { InputValues } from '../../../definition/derivation-kind.ts'
import { testContract } from '../../../testing/test-contract.ts'
import { parseUrlTemplate, renderUrl } from './url-template.ts'
import type { RenderedUrl, UrlTemplate } from './url-template.ts'

const contract = testContract({ a: 'string', b: 'string', n: 'number', o: 'object', __proto__x: 'string' })

function parse(text: string): UrlTemplate {
  return parseUrlTemplate(text, {
    contract,
    fail: (message) => {
      throw new ContractError(message)
    },
  })
}

function render(text: string, inputs: InputValues): RenderedUrl {
  return renderUrl(parse(text), inputs)
}

test('H2, D21: values go into the URL percent-encoded, text as it is and anything else as JSON', () => {
  const inputs = { a: "São Paulo/'1'?", b: '', n: -1.5, o: { k: [true, null] } }
  assert.deepEqual(render('https://h/x/{{ a }}/{{b}}?n={{ n }}&o={{ o }}', inputs), {
    outcome: 'url',
    url: 'https://h/x/S%C3%A3o%20Paulo%2F%271%27%3F/?n=-1.5&o=%7B%22k%22%3A%5Btrue%2Cnull%5D%7D',
  })
})

test('D21: the resolved URL is the template text, not normalised', () => {
  const text = 'HTTP://Example.COM:80/a/../b/./%7e?x=1|2#f'
  assert.deepEqual(render(text, {}), { outcome: 'url', url: text })
})

test('D22: a null or absent value blocks, false, zero and empty text do not', () => {
  assert.deepEqual(render('https://h/{{ a }}', { a: null }), { outcome: 'blocked', field: 'a' })
  assert.deepEqual(render('https://h/{{ a }}', {}), { outcome: 'blocked', field: 'a' })
  assert.equal(render('https://h/{{ n }}{{ a }}', { n: 0, a: '' }).outcome, 'url')
  assert.equal(render('https://h/{{ a }}', { a: false }).outcome, 'url')
})

for (const [template, inputs] of [
  ['https://h/u/{{ a }}', { a: '..' }],
  ['https://h/u/{{ a }}/y', { a: '.' }],
  ['https://h/u/{{ a }}?x', { a: '..' }],
  ['https://h/u/{{ a }}#x', { a: '..' }],
  ['https://h/u/{{ a }}{{ b }}/y', { a: '.', b: '.' }],
  ['https://h/u/.{{ a }}/y', { a: '.' }],
  ['https://h/u/.{{ a }}/y', { a: '' }],
  ['https://h/u/%2e{{ a }}/y', { a: '.' }],
  ['https://h/u/{{ a }}%2E/y', { a: '.' }],
] as const) {
  test(`D21: ${template} with ${JSON.stringify(inputs)} makes a dot segment, which fails the cell`, () => {
    assert.equal(render(template, inputs).outcome, 'dot-segment')
  })
}

for (const [template, inputs] of [
  ['https://h/u/{{ a }}', { a: '...' }],
  ['https://h/u/{{ a }}', { a: '../x' }],
  ['https://h/u/{{ a }}', { a: '%2e%2e' }],
  ['https://h/u/x{{ a }}', { a: '..' }],
  ['https://h/u?x={{ a }}', { a: '..' }],
  ['https://h/u?x=/{{ a }}/', { a: '..' }],
  ['https://h?{{ a }}', { a: '..' }],
] as const) {
  test(`D21: ${template} with ${JSON.stringify(inputs)} makes no dot segment`, () => {
    assert.equal(render(template, inputs).outcome, 'url')
  })
}

for (const template of [
  '{{ a }}',
  '{{ a }}://h/',
  'http{{ a }}://h/',
  'https://{{ a }}/',
  'https://{{ a }}.example.com/',
  'https://h{{ a }}',
  'https://h:{{ n }}/',
  'https://h:8{{ n }}/',
  'https://{{ a }}@h/',
  'https://h{{ a }}?x',
]) {
  test(`D21: the placeholder in ${template} is a ContractError`, () => {
    assert.throws(() => parse(template), /placeholders are not allowed in the scheme|url is not absolute/)
  })
}

for (const [template, message] of [
  ['/path', /not absolute/],
  ['h/path', /not absolute/],
  ['//h/path', /not absolute/],
  ['', /not absolute/],
  ['ftp://h/', /scheme "ftp"/],
  ['file:///etc/x', /scheme "file"/],
  ['https://', /no valid host/],
  ['https:///path', /no valid host/],
  ['https://:80/', /no valid host/],
  ['https://h:99999/', /no valid host/],
  ['https://user:pw@h/', /user name or password/],
  ['https://h/a b', /character " "/],
  ['https://h/ä', /character "ä"/],
  ['https://h\\x/', /character "\\\\"/],
  ['https://h/\n', /character "\\n"/],
] as const) {
  test(`the URL ${JSON.stringify(template)} is a ContractError`, () => {
    assert.throws(() => parse(template), ContractError)
    assert.throws(() => parse(template), message)
  })
}

test('the host of a URL includes its port', () => {
  assert.equal(parse('https://Api.Example.com/x').host, 'api.example.com:443')
  assert.equal(parse('http://127.0.0.1:8080?x').host, '127.0.0.1:8080')
  assert.equal(parse('http://[::1]').host, '[::1]:80')
})
