import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathText } from './answer-paths.ts'
import { parsePartialJson } from './partial-json.ts'

test('a value of a response has the path that the derivation file takes, if there is one', () => {
  assert.equal(pathText([]), '$')
  assert.equal(pathText(['rates', 0, 'usd']), 'rates.0.usd')
  assert.equal(pathText(['a.b']), null)
  assert.equal(pathText(['a', '']), null)
  assert.equal(pathText(['$']), null)
  assert.equal(pathText(['a', '$']), 'a.$')
  // A path takes no placeholders.
  assert.equal(pathText(['{{ a }}']), null)
})

test('of JSON that is cut off, the members that are complete are read', () => {
  const text = JSON.stringify({ a: [1, { b: 'x"]}\\' }], c: { d: null, e: [true, 2.5] } })
  assert.deepEqual(parsePartialJson(text), { value: JSON.parse(text), isCut: false })
  assert.deepEqual(parsePartialJson('{"a": [1, {"b": "x\\"]", "c": "ta'), {
    value: { a: [1, { b: 'x"]' }] },
    isCut: true,
  })
  for (let length = 1; length < text.length; length += 1) {
    const part = parsePartialJson(text.slice(0, length))
    assert.ok(part === null || part.isCut, text.slice(0, length))
  }
  assert.equal(parsePartialJson('<html>'), null)
  assert.equal(parsePartialJson('[1}'), null)
})
