import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParts } from './delete-in-parts.ts'

test('few ids go together, many in lists that fit an address', () => {
  assert.deepEqual(inParts(['a', 'b']), [['a', 'b']])
  assert.deepEqual(inParts([]), [])
  const ids = Array.from({ length: 500 }, (_id, index) => '日'.repeat(100) + index)
  const parts = inParts(ids)
  assert.deepEqual(parts.flat(), ids)
  for (const part of parts) assert.ok(encodeURIComponent(part.join(',')).length < 60_000)
  assert.ok(parts.length < 12)
})
