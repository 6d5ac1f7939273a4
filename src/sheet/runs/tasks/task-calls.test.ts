import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallClaim, RunTasks, TakenTask } from '../../../store/run-tasks.ts'
import { TaskCalls } from './task-calls.ts'

const TASK: TakenTask = {
  run: '1',
  derivation: 'a.yaml',
  sha256: '',
  records: [],
  lastKey: 0,
  lastSeq: 0,
  bounded: false,
  job: 'job',
  attempt: 0,
}

/** Calls of which `held` is another process's. */
function callsBeside(held: string): { calls: TaskCalls; asked: string[][] } {
  const asked: string[][] = []
  const claimCalls: RunTasks['claimCalls'] = async (_task, calls) => {
    asked.push(calls.map(({ hash }) => hash))
    return new Map(calls.map(({ hash }): [string, CallClaim] => [hash, hash === held ? 'other' : 'mine']))
  }
  return { calls: new TaskCalls({ claimCalls } as RunTasks, TASK), asked }
}

test('who waits for the call of another process keeps no other call waiting', async () => {
  const { calls, asked } = callsBeside('theirs')
  const stopping = new AbortController()
  const waiting = assert.rejects(calls.claim({ hash: 'theirs', price: 0 }, stopping.signal), /enough/)
  for (const hash of ['one', 'two', 'three']) {
    assert.equal(await calls.claim({ hash, price: 0 }, stopping.signal), null)
  }
  // Had they waited for its turn, all of them would have been asked for with it.
  const together = asked.filter((hashes) => hashes.includes('theirs') && hashes.length > 1)
  assert.ok(together.length < 3, JSON.stringify(asked))
  stopping.abort(new Error('enough'))
  await waiting
})

test('what is asked for in the same turn is asked for together', async () => {
  const { calls, asked } = callsBeside('')
  const { signal } = new AbortController()
  await Promise.all(['one', 'two'].map((hash) => calls.claim({ hash, price: 0 }, signal)))
  assert.deepEqual(asked, [['one', 'two']])
})

test('what was claimed for a task that is stopped meanwhile is released, together', async () => {
  const stopping = new AbortController()
  const claimed = Promise.withResolvers<void>()
  const released = Promise.withResolvers<readonly string[]>()
  const tasks: Pick<RunTasks, 'claimCalls' | 'releaseCalls'> = {
    async claimCalls(_task, calls) {
      claimed.resolve()
      await new Promise(setImmediate)
      return new Map(calls.map(({ hash }): [string, CallClaim] => [hash, 'mine']))
    },
    async releaseCalls(_task, calls, wasSent) {
      assert.equal(wasSent, false)
      released.resolve(calls.map(({ hash }) => hash))
    },
  }
  const calls = new TaskCalls(tasks as RunTasks, TASK)
  const claims = ['one', 'two'].map((hash) =>
    assert.rejects(calls.claim({ hash, price: 0 }, stopping.signal), /enough/),
  )
  await claimed.promise
  stopping.abort(new Error('enough'))
  await Promise.all(claims)
  assert.deepEqual(await released.promise, ['one', 'two'])
})
