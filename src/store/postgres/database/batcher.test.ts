import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Batcher } from './batcher.ts'

/** Returns a batcher that doubles numbers after a while, and the batches that it received. */
function doubling(limit?: number): { batcher: Batcher<number, number>; batches: (readonly number[])[] } {
  const batches: (readonly number[])[] = []
  const batcher = new Batcher<number, number>(async (batch) => {
    batches.push(batch)
    await turn()
    if (batch.includes(0)) throw new Error('zero')
    return batch.map((number) => number * 2)
  }, limit)
  return { batcher, batches }
}

test('requests of many in the same step share one statement', async () => {
  const { batcher, batches } = doubling()
  const threeSteps = async (start: number): Promise<number> => {
    let value = start
    for (let step = 0; step < 3; step += 1) {
      value = await batcher.run(value)
      // Some need more microtasks than others to continue.
      for (let tasks = 0; tasks < start; tasks += 1) await Promise.resolve()
    }
    return value
  }
  assert.deepEqual(await Promise.all([1, 5, 3].map(threeSteps)), [8, 40, 24])
  assert.deepEqual(
    batches.map((batch) => batch.toSorted((a, b) => a - b)),
    [
      [1, 3, 5],
      [2, 6, 10],
      [4, 12, 20],
    ],
  )
})

test('all requests of a failed batch reject, and no others', async () => {
  const { batcher } = doubling()
  const failed = await Promise.allSettled([batcher.run(1), batcher.run(0)])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await batcher.run(4), 8)
})

test('requests beyond the limit run in several batches, and each gets its own result', async () => {
  const { batcher, batches } = doubling(2)
  const results = [1, 2, 0, 3, 4].map((number) => batcher.run(number))
  const settled = await Promise.allSettled(results)
  assert.deepEqual(batches, [[1, 2], [0, 3], [4]])
  assert.deepEqual(
    settled.map((result) => (result.status === 'fulfilled' ? result.value : null)),
    [2, 4, null, null, 8],
  )
})
