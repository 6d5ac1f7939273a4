import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
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
    unread: 0,
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
  ended.resolve({ status: 0, stderr: '', shown: '' })
  const { left, unsent } = await end
  assert.deepEqual([written.length, left, unsent], [1, [], [late]])
  assert.deepEqual(settled, [{ ok: true, value: { b: { ok: true, value: 'x' } } }])
})

interface Started {
  readonly batch: BatchProcess
  readonly settled: readonly unknown[]
  /** The calls that the process received, and the bytes that it has not read. */
  readonly seen: { written: number; unread: number; closed: number; killed: number }
  /** Adds a record; `isNeeded` settles when the store has said so. */
  add(isNeeded?: Promise<boolean>): void
  /** Ends the process; returns the failure of the records left. */
  end(): Promise<string>
}

/** Starts a batch with a timeout of 60 s, of a process that does nothing by itself. */
function start(t: TestContext, secrets: readonly string[] = []): Started {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended = Promise.withResolvers<ScriptEnd>()
  const seen = { written: 0, unread: 0, closed: 0, killed: 0 }
  const settled: unknown[] = []
  const queue: BatchRecord[] = []
  const batch = new BatchProcess(
    { ...ANSWER, guard: new SecretGuard(secrets) },
    60,
    () => queue.shift() ?? null,
  )
  const run = batch.run({
    ended: ended.promise,
    get unread() {
      return seen.unread
    },
    write: () => void (seen.written += 1),
    closeInput: () => void (seen.closed += 1),
    kill: () => void (seen.killed += 1),
  })
  return {
    batch,
    settled,
    seen,
    add(isNeeded = Promise.resolve(true)) {
      queue.push({
        inputs: '{}',
        isSuspect: false,
        begin: () => isNeeded,
        settle: (result) => settled.push(result),
      })
      batch.feed()
    },
    async end() {
      ended.resolve({ status: 0, stderr: '', shown: '' })
      const { failure } = await run
      return failure.reason === 'computation' ? failure.detail : failure.reason
    },
  }
}

const answerOf = (id: number): Buffer => Buffer.from(`{"id":"${id}","values":{"b":"x"}}\n`)

test('an answer starts the wait for the next one while the store is asked about another record', async (t) => {
  const { batch, seen, settled, add, end } = start(t)
  add()
  await new Promise(setImmediate)
  const isNeeded = Promise.withResolvers<boolean>()
  add(isNeeded.promise)
  t.mock.timers.tick(900)
  batch.receive(answerOf(1))
  t.mock.timers.tick(900)
  assert.deepEqual([seen.closed, settled.length], [0, 1])
  isNeeded.resolve(true)
  await new Promise(setImmediate)
  assert.equal(seen.written, 2)
  await end()
})

test('other records do not postpone the deadline of a process that does not answer', async (t) => {
  const { seen, add, end } = start(t)
  for (let second = 0; second < 60; second += 0.5) {
    add()
    await new Promise(setImmediate)
    t.mock.timers.tick(500)
  }
  assert.deepEqual([seen.killed, await end()], [1, 'timeout'])
})

test('records begin together', async (t) => {
  const { seen, add, end } = start(t)
  const first = Promise.withResolvers<boolean>()
  add(first.promise)
  let asked = 0
  const isNeeded = Promise.withResolvers<boolean>()
  for (let count = 0; count < 3; count += 1) {
    add({
      then: (...args: Parameters<Promise<boolean>['then']>) => ((asked += 1), isNeeded.promise.then(...args)),
    } as Promise<boolean>)
  }
  first.resolve(true)
  await new Promise(setImmediate)
  assert.deepEqual([asked, seen.written], [3, 1])
  isNeeded.resolve(true)
  await new Promise(setImmediate)
  assert.equal(seen.written, 4)
  await end()
})

test('a process that answers without reading gets no more records until it reads', async (t) => {
  const { batch, seen, add, end } = start(t)
  add()
  await new Promise(setImmediate)
  seen.unread = 9 * 1024 ** 2
  batch.receive(answerOf(1))
  add()
  await new Promise(setImmediate)
  assert.equal(seen.written, 1)
  seen.unread = 0
  batch.feed()
  await new Promise(setImmediate)
  assert.equal(seen.written, 2)
  await end()
})

test('empty lines are ignored up to 64 KiB from one answer to the next', async (t) => {
  const { batch, seen, add, end } = start(t)
  add()
  add()
  await new Promise(setImmediate)
  const lines = Buffer.from(' \r\n'.repeat(20_000))
  batch.receive(lines)
  batch.receive(answerOf(1))
  batch.receive(lines)
  assert.equal(seen.killed, 0)
  batch.receive(lines)
  assert.equal(await end(), 'the script has written more than 64 KiB of empty lines')
})

test('D23: no part of a secret is left at the end of a line that a failure shows', async (t) => {
  const secret = 'k3y-0f-the-script'
  for (const line of [
    `${'x'.repeat(490)}${secret}`,
    JSON.stringify({ id: 'x'.repeat(70) + secret, values: {} }),
  ]) {
    const { batch, end } = start(t, [secret])
    batch.receive(Buffer.from(`${line}\n`))
    assert.doesNotMatch(await end(), /k3y/)
    t.mock.timers.reset()
  }
})
