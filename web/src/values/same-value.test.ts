import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameValue } from './same-value.ts'

test('values are compared by content', () => {
  assert.equal(sameValue(null, undefined), true)
  assert.equal(sameValue(null, ''), false)
  assert.equal(sameValue(0, false), false)
  assert.equal(sameValue('1', 1), false)
  assert.equal(sameValue([1, [2]], [1, [2]]), true)
  assert.equal(sameValue([1, 2], [2, 1]), false)
  assert.equal(sameValue({ a: 1, b: 2 }, { b: 2, a: 1 }), true)
  assert.equal(sameValue({ a: 1 }, { a: 1, b: undefined }), false)
  assert.equal(sameValue({ a: null }, { b: null }), false)
  assert.equal(sameValue([], {}), false)
  assert.equal(sameValue({ 0: 1 }, [1]), false)
})
