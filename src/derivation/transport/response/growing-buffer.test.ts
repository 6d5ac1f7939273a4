import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrowingBuffer } from './growing-buffer.ts'

test('the bytes are the ones that were added, in whatever chunks', () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251))
  for (const size of [1, 7, 1000, 65_536, 200_000]) {
    const buffer = new GrowingBuffer()
    for (let from = 0; from < bytes.length; from += size) buffer.add(bytes.subarray(from, from + size))
    assert.equal(buffer.length, bytes.length)
    assert.ok(buffer.bytes().equals(bytes))
  }
  assert.equal(new GrowingBuffer().bytes().length, 0)
})

test('chunks are copied, and bytes that fit on one page are not copied again', () => {
  const buffer = new GrowingBuffer()
  // Larger than a buffer from Node's pool.
  const piece = Buffer.from(`"${'x'.repeat(50_000)}"`)
  const text = piece.toString()
  buffer.add(piece)
  piece.fill(0)
  assert.equal(buffer.bytes().toString(), text)
  assert.equal(buffer.bytes().buffer, buffer.bytes().buffer)
})
