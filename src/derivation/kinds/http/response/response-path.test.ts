import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../../../../contract/json/json.ts'
import { parseResponsePath, valueAt } from './response-path.ts'

const response: JsonValue = {
  rates: { usd: 1.25, none: null },
  items: [{ name: 'a' }, 'text', []],
  '0': 'zero',
  own: JSON.parse('{"constructor": 1, "__proto__": 2, "length": 3}') as JsonValue,
}

function at(text: string, value: JsonValue = response): JsonValue | undefined {
  const path = parseResponsePath(text)
  assert.ok(path)
  return valueAt(value, path)
}

test('D26: segments are own keys or decimal array indexes', () => {
  assert.equal(at('rates.usd'), 1.25)
  assert.equal(at('items.0.name'), 'a')
  assert.equal(at('items.1'), 'text')
  assert.equal(at('0'), 'zero')
  assert.equal(at('1', ['a', 'b']), 'b')
  assert.equal(at('own.constructor'), 1)
  assert.equal(at('own.__proto__'), 2)
  assert.equal(at('own.length'), 3)
})

test('D26: $ is the whole response, and a member of that name below it', () => {
  assert.equal(at('$', 7), 7)
  assert.equal(at('$', null), null)
  assert.deepEqual(at('$'), response)
  assert.equal(at('a.$', { a: { $: 1 } }), 1)
})

test('D26: null at a path is a value', () => {
  assert.equal(at('rates.none'), null)
})

for (const path of [
  'rates.eur',
  'rates.none.deeper',
  'rates.usd.toFixed',
  'rates.constructor',
  'rates.__proto__',
  'rates.toString',
  'items.length',
  'items.3',
  'items.-1',
  'items.00',
  'items.01',
  'items.1e0',
  'items.0x0',
  'items. 0',
  'items.map',
  'items.99999999999999999999',
  'items.1.0',
  'items.1.length',
]) {
  test(`D26: ${path} has no value`, () => assert.equal(at(path), undefined))
}

test('a path with an empty part is no path', () => {
  for (const text of ['', '.', 'a.', '.a', 'a..b']) assert.equal(parseResponsePath(text), undefined)
})
