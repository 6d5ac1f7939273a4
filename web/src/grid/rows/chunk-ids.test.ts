import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkIds } from './chunk-ids.ts'

test('short ids stay together', () => {
  const ids = Array.from({ length: 100 }, (_, index) => `r${index}`)
  assert.deepEqual(chunkIds(ids), [ids])
  assert.deepEqual(chunkIds([]), [])
})

test('the longest ids are parted, and none is lost', () => {
  const ids = Array.from({ length: 100 }, (_, index) => `${'ä'.repeat(500)}${index}`)
  const chunks = chunkIds(ids)
  assert.deepEqual(chunks.flat(), ids)
  for (const chunk of chunks) assert.ok(encodeURIComponent(chunk.join(',')).length < 60_000)
})
