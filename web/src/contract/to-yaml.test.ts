import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { toYaml } from './to-yaml.ts'

test('YAML is written in its usual style', () => {
  const text = toYaml({
    kind: 'DataContract',
    schema: [{ name: 'a', tags: ['x', 'y'], options: { minLength: 1 }, none: [] }],
  })
  assert.equal(
    text,
    'kind: DataContract\nschema:\n  - name: a\n    tags: [x, y]\n    options:\n      minLength: 1\n    none: []\n',
  )
})

test('parsing it returns the same value', () => {
  const texts = [
    '',
    ' a',
    'a ',
    'a: b',
    'a #b',
    '#a',
    '- a',
    'null',
    'True',
    '12',
    '1e3',
    '.5',
    '0x1f',
    "it's",
    '"a"',
    'a\nb',
    'a\tb',
  ]
  texts.push(
    '[a',
    'a, b',
    'a]',
    '*x',
    '&x',
    '!x',
    '^[A-Z]{2}$',
    '%a',
    '@a',
    '`a',
    '~',
    '---',
    '…',
    '😀',
    '2026-01-01',
    'a:',
    ':a',
    '?',
    '<<',
    '=',
  )
  const values = [
    ...texts,
    Object.fromEntries(texts.map((text) => [text, text])),
    [texts],
    texts,
    { a: [[1, [2]], {}, { b: null }, []], c: { d: { e: [{ f: 1, g: [] }] } } },
    [[['deep']], [{ a: [{ b: 1 }] }]],
    -1.5e-7,
    true,
    null,
  ]
  for (const value of values) assert.deepEqual(parse(toYaml(value)), value, toYaml(value))
})

test('so it does for the contract of the example', () => {
  const path = join(import.meta.dirname, '../../../examples/countries/contract.yaml')
  const contract: unknown = parse(readFileSync(path, 'utf8'))
  assert.deepEqual(parse(toYaml(contract)), contract)
})
