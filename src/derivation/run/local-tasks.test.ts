import assert from 'node:assert/strict'
import { test } from 'node:test'
import { err, ok } from '../../errors/result.ts'
import type { CellCommit } from '../../store/cell-work.ts'
import { runDerivations, type RunOutcome } from '../testing/run-derivations.ts'
import { RunStoppedError } from '../../errors/service-error.ts'
import { MemoryStore } from '../testing/memory-store.ts'
import { planRun } from '../plan/plan-run.ts'
import type { RunRequest } from '../run-request.ts'
import {
  testDerivations,
  testRequest,
  TestKind,
  type TestAnswer,
  type TestSpec,
} from '../testing/test-run.ts'

const B: TestSpec = { file: 'b', targets: ['b'], inputs: ['x'], price: 0.1 }
const C: TestSpec = { file: 'c', targets: ['c'], inputs: ['b'], needed: [], price: 0.1 }
const D: TestSpec = { file: 'd', targets: ['d'], inputs: ['c'], needed: [], price: 0.1 }

/** A sheet in memory, with its derivations; `x` of record `<n>` is `<n>`. */
class RunSheet {
  readonly kind = new TestKind()
  readonly store: MemoryStore
  readonly derivations: ReturnType<typeof testDerivations>

  constructor(records: number, ...specs: readonly TestSpec[]) {
    this.derivations = testDerivations(this.kind, specs)
    this.store = new MemoryStore(this.derivations)
    for (let index = 0; index < records; index += 1) this.store.write(`${index}`, { x: `${index}` })
  }

  request(changes: Partial<RunRequest> = {}): ReturnType<typeof testRequest> {
    return testRequest(this.store, this.derivations, changes)
  }

  run(changes: Partial<RunRequest> = {}): Promise<RunOutcome> {
    return runDerivations(this.request(changes))
  }

  /** Answers wait until they are let go. */
  hold(): { release(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.kind.answer = async (url, signal) => {
      await Promise.race([promise, aborted(signal)])
      return { value: url }
    }
    return { release: resolve }
  }

  /** Resolves when so many calls have begun. */
  async begun(calls: number): Promise<void> {
    for (let turn = 0; this.kind.calls.length < calls; turn += 1) {
      assert.ok(turn < 5000, `${this.kind.calls.length} calls of ${calls} have begun`)
      await new Promise(setImmediate)
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

test('no bound on calls or dollars is ever exceeded, however many calls are under way', async () => {
  for (const [bound, expected] of [
    [{ maxCalls: 17 }, 17],
    [{ maxCost: 1.7 }, 17],
    [{ maxCalls: 0 }, 0],
    [{ maxCost: 0.05 }, 0],
    [{ maxCalls: 30, maxCost: 1.7 }, 17],
  ] as const) {
    const sheet = new RunSheet(100, B)
    const hold = sheet.hold()
    const running = sheet.run(bound)
    await sheet.begun(expected)
    hold.release()
    const { progress } = await running
    assert.equal(sheet.kind.calls.length, expected)
    assert.deepEqual(progress, {
      done: 100,
      total: 100,
      materialized: expected,
      skipped: 100 - expected,
      failed: 0,
      calls: expected,
      totalCost: expected / 10,
      unpricedCalls: 0,
      left: 100 - expected,
      manualLeft: 0,
      manualOverwritten: 0,
    })
    assert.equal((await sheet.store.status()).targets[0]?.missing, 100 - expected)
  }
})

test('cells that are computed from what a bound has left are left by it too, those from what failed are not', async () => {
  const sheet = new RunSheet(10, B, C)
  sheet.kind.answer = (url) => (url === 'b/0' ? 'fails' : { value: url })
  const { progress } = await sheet.run({ maxCalls: 4 })
  assert.deepEqual([progress.failed, progress.materialized, progress.skipped, progress.left], [1, 3, 16, 15])
})

test('calls of which nobody has said what they cost are counted apart', async () => {
  const sheet = new RunSheet(10, { ...B, price: null })
  const { progress } = await sheet.run({ maxCalls: 4, maxCost: 0 })
  assert.deepEqual([progress.calls, progress.totalCost, progress.unpricedCalls], [4, 0, 4])
})

test('failures in a row stop a run: calls under way end and are stored, none begins, and the rest is skipped', async () => {
  const sheet = new RunSheet(2000, B, C)
  sheet.kind.answer = (url) => (url.startsWith('b/') && Number(url.slice(2)) >= 5 ? 'fails' : { value: url })
  const request = sheet.request({ stopAfterFailures: 3 })
  await assert.rejects(runDerivations(request), RunStoppedError)
  const { progress } = request.observer
  assert.ok(progress)
  const { done, total, materialized, failed, skipped, left, calls } = progress
  assert.deepEqual([done, total, materialized, left], [4000, 4000, 5, 0])
  assert.equal(skipped, 4000 - materialized - failed)
  assert.equal(calls, materialized + failed)
  assert.ok(failed >= 3 && failed < 1000, `${failed} failed`)
  assert.equal(
    await sheet.run({ targets: new Set(['b']), limit: 1 }).then(({ failures }) => failures.length),
    1,
  )
})

test('a call that reached nobody counts as a call, and costs nothing', async () => {
  const sheet = new RunSheet(10, B)
  sheet.kind.reaches = (url) => url !== 'b/1'
  sheet.kind.answer = (url) => (url === 'b/1' ? 'fails' : { value: url })
  const { progress } = await sheet.run({ maxCost: 0.9 })
  // What it was to cost is there for a later call of the run.
  assert.deepEqual([progress.calls, progress.totalCost, progress.failed], [10, 0.9, 1])
  const late = new RunSheet(3, B)
  late.kind.reaches = () => false
  late.kind.answer = () => 'fails'
  const { progress: nothing } = await late.run({ maxCalls: 2, maxCost: 0.1 })
  assert.deepEqual([nothing.totalCost, nothing.unpricedCalls], [0, 0])
})

test('a call that fails counts against the bounds as any other', async () => {
  const sheet = new RunSheet(10, B)
  sheet.kind.answer = () => 'fails'
  const { progress } = await sheet.run({ maxCalls: 4 })
  assert.deepEqual([progress.calls, progress.failed, progress.skipped], [4, 4, 6])
})

test('with no call left, cells are still filled from the cache and by calls that were made', async () => {
  const sheet = new RunSheet(3, B)
  await sheet.run()
  for (const [id, x] of Object.entries({ new: 'new', cached: '1', again: 'new', left: 'left', last: '2' })) {
    sheet.store.write(id, { x })
  }
  const { progress } = await sheet.run({ maxCalls: 1 })
  assert.deepEqual([progress.materialized, progress.skipped, progress.calls], [4, 4, 1])
  assert.deepEqual(
    [4, 5, 6, 7, 8].map((key) => sheet.store.state(key, 'b')),
    ['fresh', 'fresh', 'fresh', 'missing', 'fresh'],
  )
})

test('D27: what is computed from a cell that no call was left for is left alone, also at two removes', async () => {
  const sheet = new RunSheet(3, B, C, D)
  await sheet.run()
  for (const id of ['0', '1', '2']) sheet.store.write(id, { x: `${id} new`, d: null })
  for (const key of [1, 2, 3]) {
    const record = sheet.store.records.get(key)
    for (const target of ['c', 'd']) Object.assign(record?.cells.get(target) ?? {}, { state: 'stale' })
  }
  const before = sheet.kind.calls.length
  // One call for b of the first record, then one for its c.
  const { progress } = await sheet.run({ maxCalls: 2 })
  assert.deepEqual(sheet.kind.calls.slice(before), ['b/0 new', 'b/1 new'])
  assert.deepEqual([progress.materialized, progress.skipped], [2, 7])
})

test('with bounds, derivations of a level go one after another, so that a plan says what they leave room for', async () => {
  const specs = [B, { file: 'e', targets: ['e'], inputs: ['x'], price: 0.3 }]
  for (const bound of [{ maxCalls: 150 }, { maxCost: 20 }]) {
    const sheet = new RunSheet(120, ...specs)
    sheet.kind.answer = async () => {
      await new Promise(setImmediate)
      return { value: 'v' }
    }
    const plan = await planRun(sheet.request(bound))
    const request = sheet.request(bound)
    const { progress } = await runDerivations(request)
    assert.deepEqual([progress.calls, progress.totalCost], [plan.calls, plan.cost])
    for (const target of ['b', 'e']) {
      const computed = request.observer.cells.filter(({ field }) => field === target)
      assert.equal(computed.length, plan.targets[target]?.compute, target)
    }
  }
})

test('a run tells which cells are computed: from the call until the result is stored, also if it fails', async () => {
  const sheet = new RunSheet(3, { ...B, targets: ['b', 'bb'] })
  const [called, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  sheet.kind.answer = async (url): Promise<TestAnswer> => {
    if (url === 'b/2') called.resolve()
    await answer.promise
    return url === 'b/1' ? 'fails' : { value: url }
  }
  const request = sheet.request()
  const running = runDerivations(request)
  await called.promise
  assert.deepEqual(
    [...request.observer.underWay].map(({ recordId, field }) => `${recordId}.${field}`),
    ['0.b', '0.bb', '1.b', '1.bb', '2.b', '2.bb'],
  )
  answer.resolve()
  await running
  assert.equal(request.observer.underWay.size, 0)
})

test('D25: equal hashes are one call, with force and when it fails, also far apart', async () => {
  for (const force of [false, true]) {
    const sheet = new RunSheet(0, { ...B, targets: ['b', 'bb'] })
    for (let index = 0; index < 900; index += 1) sheet.store.write(`${index}`, { x: `${index % 290}` })
    sheet.kind.answer = (url): TestAnswer => {
      const number = Number(url.split('/')[1])
      if (number % 3 === 0) return 'fails'
      const failure = err({ reason: 'malformed_json' as const, request: url })
      return { values: { b: ok(url), bb: number % 3 === 1 ? failure : ok(url) } }
    }
    const { progress, failures } = await sheet.run({ force })
    assert.deepEqual([sheet.kind.calls.length, progress.calls], [290, 290])
    const numbers = Array.from({ length: 900 }, (_, index) => (index % 290) % 3)
    const expected = numbers.reduce((sum, number) => sum + 2 - number, 0)
    assert.deepEqual(
      [failures.length, progress.failed, progress.materialized],
      [expected, expected, 1800 - expected],
    )
    assert.deepEqual(
      new Set(failures.map(({ error }) => error.split(' -> ')[1])),
      new Set(['503', 'malformed JSON']),
    )
  }
})

test('D25: what a call of the run fails to bring is not taken from an older answer, nor asked for twice', async () => {
  for (const again of [{ force: true }, { only: 'failed' as const }]) {
    const sheet = new RunSheet(0, { ...B, targets: ['b', 'bb'] })
    for (let index = 0; index < 900; index += 1) sheet.store.write(`${index}`, { x: `${index % 290}` })
    await sheet.run()
    sheet.kind.answer = () => 'fails'
    if (again.force !== true) await sheet.run({ force: true })
    sheet.kind.calls.length = 0
    sheet.kind.answer = (url) => ({
      values: { b: ok(`new ${url}`), bb: err({ reason: 'malformed_json', request: url }) },
    })
    const plan = await planRun(sheet.request(again))
    const { progress, failures } = await sheet.run(again)
    assert.deepEqual([plan.calls, progress.calls, sheet.kind.calls.length], [290, 290, 290])
    assert.deepEqual([progress.materialized, failures.length], [900, 900])
    assert.ok(sheet.store.records.values().every(({ values }) => String(values['b']).startsWith('new ')))
    assert.ok(sheet.store.records.values().every(({ values }) => !String(values['bb']).startsWith('new ')))
  }
})

test('D25: a call under way is shared also after a record that needed only the cache is done with', async () => {
  const sheet = new RunSheet(0, { ...B, targets: ['b', 'bb'] })
  sheet.kind.answer = () => ({
    values: { b: ok('b'), bb: err({ reason: 'malformed_json', request: 'b' }) },
  })
  sheet.store.write('first', { x: 'x' })
  await sheet.run()
  sheet.store.write('cached', { x: 'x', bb: 'by hand' })
  for (let index = 0; index < 300; index += 1) sheet.store.write(`${index}`, { x: `${index}` })
  sheet.store.write('last', { x: 'x' })
  sheet.kind.calls.length = 0
  sheet.kind.answer = async (url) => {
    if (url === 'b/x') await sheet.begun(301)
    return { value: url }
  }
  await sheet.run()
  assert.equal(sheet.kind.calls.filter((url) => url === 'b/x').length, 1)
})

test('the concurrency that the hosts allow is reached', async () => {
  const sheet = new RunSheet(400, B)
  const hold = sheet.hold()
  const { policies } = sheet.request()
  const running = sheet.run({ policies: { ...policies, maxConcurrency: 256 } })
  await sheet.begun(256)
  hold.release()
  await running
  assert.ok(sheet.kind.peak >= 256)
})

test('each commit names its run, how far that is, and is told of with what it stored', async () => {
  const sheet = new RunSheet(6, B)
  sheet.kind.answer = (url) => (url === 'b/1' ? 'fails' : { value: `v of ${url}` })
  sheet.store.write('7', {})
  const request = sheet.request({ id: '42' })
  const { failures } = await runDerivations(request)
  const commits: readonly CellCommit[] = sheet.store.commits
  assert.deepEqual(
    commits.map(({ run, actor, progress }) => ({ run, actor, ...progress })),
    [{ run: '42', actor: 'agent:runner', skipped: 1, left: 0, calls: 6, totalCost: 0.6, unpricedCalls: 0 }],
  )
  assert.deepEqual(request.observer.commits.length, 1)
  assert.deepEqual(request.observer.cells.slice(0, 2), [
    { recordId: '0', field: 'b', state: 'fresh', value: 'v of b/0' },
    {
      recordId: '1',
      field: 'b',
      state: 'failed',
      error: 'b/1 -> 503',
      detail: '503',
      errorType: 'ServiceError',
      reason: 'status',
    },
  ])
  assert.deepEqual(failures, [
    {
      recordId: '1',
      field: 'b',
      error: 'b/1 -> 503',
      detail: '503',
      errorType: 'ServiceError',
      reason: 'status',
    },
  ])
})

test('cells with nothing to do are counted when their derivation begins', async () => {
  const sheet = new RunSheet(50, B, C)
  await sheet.run()
  sheet.store.write('3', { x: 'new' })
  const hold = sheet.hold()
  const request = sheet.request()
  const running = runDerivations(request)
  await sheet.begun(101)
  assert.deepEqual(request.observer.progress, {
    done: 49,
    total: 100,
    materialized: 0,
    skipped: 49,
    failed: 0,
    calls: 1,
    totalCost: 0.1,
    unpricedCalls: 0,
    left: 0,
    manualLeft: 0,
    manualOverwritten: 0,
  })
  hold.release()
  const { progress } = await running
  assert.deepEqual([progress.done, progress.materialized, progress.skipped], [100, 2, 98])
})

test('D28: a cell that gets something to do after it was counted as left alone is computed, and upsets no count', async () => {
  const sheet = new RunSheet(300, B)
  await sheet.run()
  for (let index = 0; index < 280; index += 1) sheet.store.write(`${index}`, { x: `${index} new` })
  const hold = sheet.hold()
  const done: number[] = []
  const running = sheet.run({
    observer: {
      onBegun: () => undefined,
      onCells: () => undefined,
      onProgress: (progress) => {
        assert.equal(progress.done, progress.materialized + progress.skipped + progress.failed)
        assert.ok(progress.done <= progress.total)
        done.push(progress.done)
      },
    },
  })
  await sheet.begun(301)
  // Fresh when the run began, and not looked at yet.
  sheet.store.write('299', { x: 'written meanwhile' })
  sheet.store.write('after the run began', { x: 'new' })
  hold.release()
  const { progress } = await running
  assert.deepEqual(
    done,
    done.toSorted((one, other) => one - other),
  )
  assert.deepEqual([progress.done, progress.materialized, progress.skipped], [300, 281, 19])
})

test('an aborted run begins no call, aborts those under way, stores what was answered, and says how far it came', async () => {
  const sheet = new RunSheet(500, B, C)
  const stopping = new AbortController()
  const reason = new Error('stop')
  const commitCells = sheet.store.commitCells.bind(sheet.store)
  let storing = 0
  sheet.store.commitCells = async (commit) => {
    storing += 1
    await new Promise(setImmediate)
    return commitCells(commit).finally(() => (storing -= 1))
  }
  let answered = 0
  sheet.kind.answer = async (_, signal) => {
    // The first have been answered when the run is stopped, and wait to be stored.
    if (answered < 10) {
      answered += 1
      return { value: 'paid' }
    }
    return Promise.race([aborted(signal), new Promise<never>(() => undefined)])
  }
  const request = sheet.request({ signal: stopping.signal })
  const running = runDerivations(request)
  await sheet.begun(20)
  stopping.abort(reason)
  const begun = sheet.kind.calls.length
  await assert.rejects(running, (error) => error === reason)
  assert.equal(storing, 0)
  assert.deepEqual([sheet.kind.calls.length, sheet.kind.underWay], [begun, 0])
  const stored = [...sheet.store.records.keys()].filter((key) => sheet.store.state(key, 'b') === 'fresh')
  assert.equal(stored.length, 10)
  assert.equal(sheet.store.cache.size, 10)
  const { progress } = request.observer
  assert.deepEqual([progress?.materialized, progress?.calls, progress?.failed], [10, begun, 0])
  assert.ok((progress?.done ?? 0) < (progress?.total ?? 0))
})

test('an answer that arrives although its run was stopped is paid for, and stored; a failure is not', async () => {
  const sheet = new RunSheet(2, B)
  const stopping = new AbortController()
  sheet.kind.answer = async (url) => {
    await new Promise(setImmediate)
    stopping.abort(new Error('stop'))
    return url === 'b/0' ? { value: 'paid' } : 'fails'
  }
  await assert.rejects(sheet.run({ signal: stopping.signal }), /stop/)
  assert.deepEqual([sheet.store.state(1, 'b'), sheet.store.state(2, 'b')], ['fresh', 'missing'])
})

test('a run that is stopped ends with the reason for that, also when its last results cannot be stored', async () => {
  const sheet = new RunSheet(1, B)
  const stopping = new AbortController()
  sheet.store.commitCells = () => Promise.reject(new Error('the store is closed'))
  sheet.kind.answer = () => {
    stopping.abort(new Error('stop'))
    return { value: 'paid' }
  }
  await assert.rejects(sheet.run({ signal: stopping.signal }), /stop/)
})

test('a run that is stopped before it begins calls nobody', async () => {
  for (const limit of [null, 1]) {
    const sheet = new RunSheet(2, B)
    await assert.rejects(sheet.run({ signal: AbortSignal.abort(new Error('stop')), limit }), /stop/)
    assert.deepEqual(sheet.kind.calls, [])
  }
})

test('a run whose store breaks ends with that error when nothing is under way any more', async () => {
  const sheet = new RunSheet(1200, B)
  sheet.store.commitCells = () => Promise.reject(new Error('disk full'))
  sheet.kind.answer = async (url, signal) => (url === 'b/0' ? { value: 'v' } : aborted(signal))
  const request = sheet.request()
  await assert.rejects(runDerivations(request), /disk full/)
  assert.equal(sheet.kind.underWay, 0)
  assert.ok(sheet.kind.calls.length < 1200)
  assert.equal(request.observer.progress?.calls, sheet.kind.calls.length)
})

test('a kind that breaks ends the run', async () => {
  const sheet = new RunSheet(3, B)
  sheet.kind.estimate = () => {
    throw new Error('a bug')
  }
  await assert.rejects(sheet.run(), /a bug/)
})

test('a value that only the store can refuse fails its cell', async () => {
  const sheet = new RunSheet(2, B)
  const commitCells = sheet.store.commitCells.bind(sheet.store)
  sheet.store.commitCells = async (commit) => {
    const refused = commit.cells.findIndex(({ key, result }) => key === 2 && result.kind === 'computed')
    const cells = commit.cells.filter((_, index) => index !== refused)
    const outcomes = await commitCells({ ...commit, cells })
    return refused === -1 ? outcomes : outcomes.toSpliced(refused, 0, { outcome: 'refused', detail: 'taken' })
  }
  const { progress, failures } = await sheet.run()
  assert.deepEqual([progress.materialized, progress.failed, progress.skipped], [1, 1, 0])
  assert.deepEqual(
    failures.map(({ error }) => error),
    ['b/1 -> field "b": taken'],
  )
})
