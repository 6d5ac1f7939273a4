import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitIds } from './split-ids.ts'

test('short ids stay together, up to a maximum', () => {
  assert.deepEqual(splitIds([]), [])
  assert.deepEqual(splitIds(['a', 'b']), [['a', 'b']])
  const many = Array.from({ length: 2001 }, (_, index) => `r${index}`)
  const parts = splitIds(many, 1000)
  assert.deepEqual(
    parts.map((part) => part.length),
    [1000, 1000, 1],
  )
  assert.deepEqual(parts.flat(), many)
})

test('long ids are divided into few lists that fit into a URL, and none is lost', () => {
  const ids = Array.from({ length: 500 }, (_, index) => `${'日'.repeat(100)}${index}`)
  const parts = splitIds(ids)
  assert.deepEqual(parts.flat(), ids)
  for (const part of parts) assert.ok(encodeURIComponent(part.join(',')).length < 60_000)
  assert.ok(parts.length < 12)
})

test('an id that alone exceeds the limit gets a list of its own', () => {
  const long = 'ä'.repeat(10_000)
  assert.deepEqual(splitIds(['a', long, 'b']), [['a'], [long], ['b']])
})
