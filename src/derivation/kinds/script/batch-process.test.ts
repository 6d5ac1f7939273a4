import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContract } from '../../testing/test-contract.ts'
import { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { BatchProcess, type BatchRecord } from './batch-process.ts'
import type { ScriptEnd } from './script-host.ts'

const ANSWER = {
  contract: testContract({ b: 'string' }),
  targets: ['b'],
  output: 'text',
  request: 'scripts/b.py',
  guard: new SecretGuard([]),
} as const

test('a record whose turn comes after the end of the input is left for the next process', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended = Promise.withResolvers<ScriptEnd>()
  const written: string[] = []
  let closed = 0
  const settled: unknown[] = []
  const isNeeded = Promise.withResolvers<boolean>()
  const record = (begin: () => Promise<boolean>): BatchRecord => ({
    inputs: '{}',
    isSuspect: false,
    begin,
    settle: (result) => settled.push(result),
  })
  const late = record(() => isNeeded.promise)
  const queue = [record(() => Promise.resolve(true)), late]
  let mayTake = 1
  const batch = new BatchProcess(ANSWER, 60, () => (mayTake-- > 0 ? (queue.shift() ?? null) : null))
  const end = batch.run({
    ended: ended.promise,
    write: (text) => void written.push(text),
    closeInput: () => void (closed += 1),
    kill: () => assert.fail('killed'),
  })
  // The first record is written, and the second asks whether it is needed when the input ends.
  await new Promise(setImmediate)
  mayTake = 1
  batch.feed()
  t.mock.timers.tick(1000)
  assert.equal(closed, 1)
  isNeeded.resolve(true)
  batch.receive(Buffer.from('{"id":"1","values":{"b":"x"}}\n'))
  ended.resolve({ status: 0, stderr: '' })
  const { left, unsent } = await end
  assert.deepEqual([written.length, left, unsent], [1, [], [late]])
  assert.deepEqual(settled, [{ ok: true, value: { b: { ok: true, value: 'x' } } }])
})
