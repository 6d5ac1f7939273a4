import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './parse-json.ts'

test('JSON is parsed, brackets inside strings not counting as nesting', () => {
  assert.deepEqual(parseJson('{"a":[1,null]}'), { a: [1, null] })
  const brackets = `\\"${'['.repeat(2000)}\\\\`
  assert.equal(Array.isArray(parseJson(`["${brackets}","${'{'.repeat(2000)}"]`)), true)
  const siblings = `[${Array.from({ length: 2000 }, () => '[[],{}]').join(',')}]`
  assert.notEqual(parseJson(siblings), undefined)
})

test('invalid JSON is undefined', () => {
  for (const text of ['', ' ', '{', 'NaN', "{'a':1}", '<html>', '1 2', '"'.repeat(1001)]) {
    assert.equal(parseJson(text), undefined, text)
  }
})

test('JSON nested deeper than 512 levels is refused, also behind escaped quotes', () => {
  assert.notEqual(parseJson('['.repeat(512) + ']'.repeat(512)), undefined)
  assert.equal(parseJson('['.repeat(513) + ']'.repeat(513)), undefined)
  assert.equal(parseJson('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)), undefined)
  assert.equal(parseJson(`["\\\\",${'['.repeat(600)}${']'.repeat(600)}]`), undefined)
})

test('a number that a double cannot hold is refused; large ones that it can hold are not', () => {
  assert.equal(parseJson('{"a":1e400}'), undefined)
  assert.equal(parseJson('[-1E+999]'), undefined)
  assert.equal(parseJson(`[${'9'.repeat(400)}]`), undefined)
  assert.deepEqual(parseJson('[1e308,1e-400,"1e400"]'), [1e308, 0, '1e400'])
})
