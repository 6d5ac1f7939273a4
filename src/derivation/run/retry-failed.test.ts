import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDerivations } from '../testing/run-derivations.ts'
import { KEPT_AT, MemoryStore } from '../testing/memory-store.ts'
import { planRun } from '../plan/plan-run.ts'
import type { RunRequest } from '../run-request.ts'
import { testDerivations, testRequest, TestKind, type TestSpec } from '../testing/test-run.ts'

const DAY = 86_400_000
const START = Date.parse(KEPT_AT)
const timeOf = (ms: number): string => new Date(ms).toISOString()

/** A sheet of `b`, computed from `x`, and `c`, computed from `b`; every call fails for good until it is told otherwise. */
class RetrySheet {
  readonly kind = new TestKind()
  store = new MemoryStore([])
  derivations = this.#derivations()
  now = START

  constructor(spec: Partial<TestSpec> = {}) {
    this.derivations = this.#derivations(spec)
    this.store = new MemoryStore(this.derivations)
    this.kind.answer = () => 'gone'
  }

  #derivations(spec: Partial<TestSpec> = {}): ReturnType<typeof testDerivations> {
    return testDerivations(this.kind, [
      { file: 'b', targets: ['b'], inputs: ['x'], retryFailedAfterMs: 7 * DAY, ...spec },
      { file: 'c', targets: ['c'], inputs: ['b'] },
    ])
  }

  /** Runs, and returns the calls that were made; the plan must have counted as many. */
  async run(changes: Partial<Pick<RunRequest, 'force' | 'only' | 'limit'>> = {}): Promise<string[]> {
    this.store.now = timeOf(this.now)
    const request = testRequest(this.store, this.derivations, { now: this.now, ...changes })
    const plan = await planRun(request)
    const before = this.kind.calls.length
    const { progress } = await runDerivations(request)
    const calls = this.kind.calls.slice(before)
    assert.ok(plan.atMost ? plan.calls >= calls.length : plan.calls === calls.length, `${plan.calls} planned`)
    assert.equal(progress.done, progress.total)
    return calls
  }

  async later(): Promise<unknown> {
    const request = testRequest(this.store, this.derivations, { now: this.now })
    return (await planRun(request)).targets['b']?.retryLater
  }

  edit(): void {
    this.derivations = this.#derivations({ version: 2 })
    this.store.define(this.derivations)
  }
}

test('retry_failed_after: a lasting failure is not paid for again before its time, and the plan says when it is', async () => {
  const sheet = new RetrySheet()
  sheet.store.write('1', { x: 'one' })
  assert.deepEqual(await sheet.run(), ['b/one'])
  sheet.now += DAY
  sheet.store.write('2', { x: 'two' })
  assert.deepEqual(await sheet.later(), { cells: 1, next: timeOf(START + 7 * DAY) })
  assert.deepEqual(await sheet.run(), ['b/two'])
  assert.deepEqual(await sheet.later(), { cells: 2, next: timeOf(START + 7 * DAY) })
  assert.deepEqual(await sheet.run(), [])
  assert.equal(sheet.store.state(1, 'b'), 'failed')

  sheet.now = START + 7 * DAY
  assert.deepEqual(await sheet.run(), ['b/one'])
  assert.deepEqual(await sheet.later(), { cells: 2, next: timeOf(START + 8 * DAY) })
})

test('retry_failed_after: another input or another file makes the cell due at once', async () => {
  const sheet = new RetrySheet()
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  sheet.store.write('1', { x: 'changed' })
  assert.deepEqual(await sheet.run(), ['b/changed'])
  assert.deepEqual(await sheet.run(), [])
  sheet.edit()
  assert.deepEqual(await sheet.run(), ['b/changed'])
})

test('retry_failed_after: force, and a run of what failed, try again', async () => {
  const sheet = new RetrySheet({ retryFailedAfterMs: Infinity })
  sheet.store.write('1', { x: 'one' })
  await sheet.run()
  assert.deepEqual(await sheet.later(), { cells: 1, next: null })
  sheet.now += 10_000 * DAY
  assert.deepEqual(await sheet.run(), [])
  assert.deepEqual(await sheet.run({ only: 'failed' }), ['b/one'])
  assert.deepEqual(await sheet.run({ force: true }), ['b/one'])
  sheet.kind.answer = () => ({ value: 'found' })
  assert.deepEqual(await sheet.run({ only: 'failed' }), ['b/one'])
  assert.deepEqual(await sheet.run(), ['c/found'])
})

test('retry_failed_after: a failure that may pass is tried again at the next run, as is any without the key', async () => {
  const passing = new RetrySheet()
  passing.store.write('1', { x: 'one' })
  passing.kind.answer = () => 'fails'
  await passing.run()
  assert.deepEqual([await passing.later(), await passing.run()], [undefined, ['b/one']])

  const without = new RetrySheet()
  without.derivations = testDerivations(without.kind, [{ file: 'b', targets: ['b'], inputs: ['x'] }])
  without.store = new MemoryStore(without.derivations)
  without.store.write('1', { x: 'one' })
  await without.run()
  assert.deepEqual([await without.later(), await without.run()], [undefined, ['b/one']])
})

test('limit: untried records come first, then those that failed the longest ago, so that runs come to all', async () => {
  const sheet = new RetrySheet()
  sheet.derivations = testDerivations(sheet.kind, [{ file: 'b', targets: ['b'], inputs: ['x'] }])
  sheet.store = new MemoryStore(sheet.derivations)
  for (const x of ['1', '2', '3', '4', '5']) sheet.store.write(x, { x })
  const runs: string[][] = []
  for (let run = 0; run < 5; run += 1) {
    sheet.now += 1000
    runs.push(await sheet.run({ limit: 2 }))
  }
  const calls = runs.map((made) => made.map((url) => url.slice(2)).join())
  // The third takes the last that is untried, and the first of those that failed first.
  assert.deepEqual(
    calls,
    ['1,2', '3,4', '1,5', '2,3', '4,1'].map((two) => two.split(',').toSorted().join()),
  )
  sheet.now += 1000
  assert.deepEqual(await sheet.run({ limit: 2, only: 'failed' }), ['b/2', 'b/5'])
  // What is written meanwhile has failed all the same, but its turn is that of its failure.
  sheet.store.write('6', { x: '6' })
  assert.deepEqual(await sheet.run({ limit: 1 }), ['b/6'])
  assert.deepEqual(await sheet.run({ limit: 2, force: true }), ['b/1', 'b/2'])
})
