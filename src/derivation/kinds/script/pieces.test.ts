import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pieces } from './pieces.ts'

test('pieces are joined in their order, however many there are', () => {
  const pieces = new Pieces()
  const text = Array.from({ length: 2500 }, (_, index) => `${index},`)
  for (const piece of text) pieces.push(Buffer.from(piece))
  assert.equal(pieces.size, text.join('').length)
  assert.equal(String(pieces.take()), text.join(''))
  assert.deepEqual([pieces.size, pieces.take().length], [0, 0])
})
