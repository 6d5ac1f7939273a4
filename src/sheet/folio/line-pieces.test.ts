import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linePieces } from './line-pieces.ts'

test('lines are yielded in pieces of whole lines, which together are the file', () => {
  const objects = Array.from({ length: 5 }, (_, index) => ({ index, text: 'x'.repeat(500_000) }))
  const pieces = [...linePieces(objects, JSON.stringify)]
  assert.equal(pieces.join(''), objects.map((object) => `${JSON.stringify(object)}\n`).join(''))
  assert.deepEqual(
    pieces.map((piece) => piece.split('\n').length - 1),
    [3, 2],
  )
  assert.deepEqual([...linePieces([], JSON.stringify)], [])
})
