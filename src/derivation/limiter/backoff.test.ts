import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs } from './backoff.ts'

test('the backoff doubles from half a second up to 30 s, and any part of it may be waited', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 7, 10].map((tries) => backoffMs(tries, () => 1))
  assert.deepEqual(longest, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  assert.equal(
    backoffMs(3, () => 0),
    0,
  )
  assert.equal(
    backoffMs(3, () => 0.25),
    1000,
  )
})
