import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection, StoredRow } from '../database/connection.ts'
import { PresentState } from './present-state.ts'

/** A store whose state changes with each query. `answer` waits for the next query, and answers it. */
function slowStore(): {
  readonly present: PresentState
  readonly answer: () => Promise<void>
  readonly sent: () => number
} {
  let sent = 0
  const waiting: (() => void)[] = []
  const get = (): Promise<StoredRow> => {
    sent += 1
    const row = { revision: sent, state: `s${sent}` }
    return new Promise((resolve) => waiting.push(() => resolve(row)))
  }
  return {
    present: new PresentState({ get } as unknown as Connection),
    answer: async () => {
      while (waiting.length === 0) await nextTurn()
      waiting.shift()?.()
    },
    sent: () => sent,
  }
}

test('requests that got the revision with a query get the state of the same', async () => {
  const { present, answer, sent } = slowStore()
  const request = async (): Promise<unknown> => [await present.revision(), await present.state()]
  const both = Promise.all([request(), request()])
  await answer()
  assert.deepEqual(await both, [
    [1, 's1'],
    [1, 's1'],
  ])
  assert.equal(sent(), 1)
})

test('requests of one turn of the event loop share a query, also if one asks a little later', async () => {
  const { present, answer, sent } = slowStore()
  const later = async (): Promise<number> => {
    for (let step = 0; step < 5; step += 1) await Promise.resolve()
    return present.revision()
  }
  const both = Promise.all([present.revision(), later()])
  await answer()
  assert.deepEqual(await both, [1, 1])
  assert.equal(sent(), 1)
})

test('a request that comes while a query is under way, or later, sees what a later query finds', async () => {
  const { present, answer, sent } = slowStore()
  const first = present.revision()
  while (sent() === 0) await nextTurn()
  const second = present.state()
  await answer()
  assert.equal(await first, 1)
  await answer()
  assert.equal(await second, 's2')
  await nextTurn()
  const third = present.state()
  await answer()
  assert.equal(await third, 's3')
})

test('each revision stands for one state: who asks again gets that of another query', async () => {
  const { present, answer } = slowStore()
  const request = async (): Promise<unknown> => [
    await present.revision(),
    await present.state(),
    await present.state(),
  ]
  const states = request()
  await answer()
  await answer()
  assert.deepEqual(await states, [1, 's1', 's2'])
})
