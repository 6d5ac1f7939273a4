import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'

const SIGNAL = new AbortController().signal

test('no more tasks than places go on at a time, and all get their turn', async () => {
  const limiter = new ConcurrencyLimiter(2)
  let [now, most] = [0, 0]
  const task = async (result: number): Promise<number> => {
    now += 1
    most = Math.max(most, now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    now -= 1
    if (result === 3) throw new Error('three')
    return result
  }
  const results = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((each) => limiter.pass(SIGNAL, () => task(each))),
  )
  assert.equal(most, 2)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

test('who was aborted while waiting does nothing, and makes way', async () => {
  const limiter = new ConcurrencyLimiter(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = limiter.pass(SIGNAL, () => promise)
  const abort = new AbortController()
  let ran = false
  const second = limiter.pass(abort.signal, () => {
    ran = true
    return Promise.resolve()
  })
  const third = limiter.pass(SIGNAL, () => Promise.resolve('third'))
  abort.abort(new Error('gone'))
  resolve()
  await first
  await assert.rejects(second, /gone/)
  assert.equal(await third, 'third')
  assert.equal(ran, false)
})
