import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Batcher } from './batcher.ts'

/** One that answers with doubles, after a while, and what it was asked each time. */
function doubling(limit?: number): { batcher: Batcher<number, number>; asked: (readonly number[])[] } {
  const asked: (readonly number[])[] = []
  const batcher = new Batcher<number, number>(async (questions) => {
    asked.push(questions)
    await turn()
    if (questions.includes(0)) throw new Error('zero')
    return questions.map((question) => question * 2)
  }, limit)
  return { batcher, asked }
}

test('the steps of many callers are answered with one statement a step', async () => {
  const { batcher, asked } = doubling()
  const threeSteps = async (start: number): Promise<number> => {
    let value = start
    for (let step = 0; step < 3; step += 1) {
      value = await batcher.ask(value)
      // Some need more microtasks than others to continue.
      for (let tasks = 0; tasks < start; tasks += 1) await Promise.resolve()
    }
    return value
  }
  assert.deepEqual(await Promise.all([1, 5, 3].map(threeSteps)), [8, 40, 24])
  assert.deepEqual(
    asked.map((questions) => questions.toSorted((a, b) => a - b)),
    [
      [1, 3, 5],
      [2, 6, 10],
      [4, 12, 20],
    ],
  )
})

test('an error of the statement is reported to every caller that used it, and to no other', async () => {
  const { batcher } = doubling()
  const failed = await Promise.allSettled([batcher.ask(1), batcher.ask(0)])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await batcher.ask(4), 8)
})

test('more requests than a statement takes use several at once, and each gets its own response', async () => {
  const { batcher, asked } = doubling(2)
  const answers = [1, 2, 0, 3, 4].map((question) => batcher.ask(question))
  const told = await Promise.allSettled(answers)
  assert.deepEqual(asked, [[1, 2], [0, 3], [4]])
  assert.deepEqual(
    told.map((answer) => (answer.status === 'fulfilled' ? answer.value : null)),
    [2, 4, null, null, 8],
  )
})
