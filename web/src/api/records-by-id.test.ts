import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOf } from './records-by-id.ts'

test('ids are asked for in parts that fit into a condition and into an address', () => {
  assert.deepEqual(partsOf([]), [])
  assert.deepEqual(partsOf(['a', 'b']), [['a', 'b']])
  const many = Array.from({ length: 2001 }, (_, index) => `r${index}`)
  assert.deepEqual(
    partsOf(many).map((part) => part.length),
    [1000, 1000, 1],
  )
  assert.deepEqual(partsOf(many).flat(), many)
  const long = Array.from({ length: 5 }, (_, index) => `${index}${'ä'.repeat(5000)}`)
  assert.deepEqual(
    partsOf(long).map((part) => part.length),
    [1, 1, 1, 1, 1],
  )
  assert.deepEqual(partsOf([long[0] ?? '', 'a', 'b']).length, 1)
})
