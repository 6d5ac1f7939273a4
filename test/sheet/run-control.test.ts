import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { FRESH_MS } from '../../src/derivation/run/derivation-run.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize, type MaterializeRequest } from '../../src/sheet/runs/materialize.ts'
import { getRun, getRunDetail, listRunFailures, listRuns } from '../../src/sheet/runs/read-runs.ts'
import type { RunFrame, RunWatch } from '../../src/sheet/run-feed.ts'
import { watchRun } from '../../src/sheet/runs/watch/watch-run.ts'
import { openOnEngine, perEngine, placeOnEngine, skipOnPostgres } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'
import { openImpatient } from '../support/sheet-fixture.ts'

const OTHER_RUN = join(import.meta.dirname, '..', 'support', 'run-in-process.ts')
const REQUEST: MaterializeRequest = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }
const FIRST_PAGE = { limit: null, cursor: null }

function numbered(count: number): { id: string; a: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `${index}`, a: `${index}` }))
}

/** Starts a run in a process of its own and waits until its first call has arrived. */
async function runElsewhere(t: TestContext, run: RunSheet): Promise<{ kill(): Promise<void> }> {
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const other = spawn(process.execPath, [OTHER_RUN, await placeOnEngine(run.directory)], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const ended = once(other, 'exit')
  onEnd(t, () => other.kill('SIGKILL'))
  await Promise.race([hold.arrived(), ended.then(() => assert.fail('the other process ended early'))])
  return {
    async kill() {
      other.kill('SIGKILL')
      await ended
      hold.release()
    },
  }
}

/** Begins to watch a run, and returns everything that is told until its end. */
async function watchToEnd(run: RunSheet, id: string): Promise<{ readonly frames: Promise<RunFrame[]> }> {
  const watch = await watchRun(run.sheet, id)
  const heard = hearToEnd(watch)
  return { frames: heard.then((frames) => [...watch.first, ...frames]) }
}

/** Returns the frames that a new subscriber receives. */
async function hearToEnd(watch: RunWatch): Promise<RunFrame[]> {
  const frames: RunFrame[] = []
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const subscription = watch.subscribe(() => {
    for (let frame = subscription.take(); frame; frame = subscription.take()) frames.push(frame)
    if (subscription.closed) resolve()
  })
  await ended
  return frames
}

test('the row of an ended run has its request, its result and its times', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }, { id: '2', a: 'bad' }, { id: '3' }])
  run.api.answer('/b/bad', { json: null, status: 500 })
  const { id, done } = await startMaterialize(run.sheet, {
    ...REQUEST,
    recordIds: ['1', '2', '3', 'no'],
    force: true,
    maxCalls: 7,
  })
  await done
  assert.deepEqual((await getRunDetail(run.sheet, id)).recordIds, ['1', '2', '3', 'no'])
  const { startedAt, endedAt, ...row } = await getRun(run.sheet, id)
  assert.deepEqual(row, {
    id: '1',
    kind: 'materialize',
    reverts: null,
    state: 'finished',
    actor: 'agent:runner',
    targets: null,
    recordCount: 4,
    force: true,
    overwriteManual: false,
    only: null,
    limit: null,
    maxCalls: 7,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
    left: 0,
    manualLeft: 0,
    manualOverwritten: 0,
    unpricedCalls: 2,
    done: 4,
    total: 4,
    materialized: 1,
    skipped: 1,
    failed: 2,
    calls: 2,
    totalCost: 0,
    error: null,
    cancelledBy: null,
  })
  for (const time of [startedAt, endedAt]) assert.match(String(time), /^\d{4}-.*T.*\.\d{3}Z$/)
  const { failures } = await listRunFailures(run.sheet, id, FIRST_PAGE)
  assert.deepEqual(
    failures.map(({ recordId, field, error, errorType }) => [recordId, field, error, errorType]),
    [
      ['no', 'b', 'no record "no"', 'SheetError'],
      ['2', 'b', `GET ${run.api.url}/b/bad -> 500`, 'ServiceError'],
    ],
  )
})

test('runs are listed newest first, page by page, and so are the failures of one', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, numbered(5))
  run.api.answer('*', { json: null, status: 500 })
  for (let count = 0; count < 5; count++) await run.run()
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await listRuns(run.sheet, { limit: 2, cursor })
    seen.push(...page.runs.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  assert.deepEqual(seen, ['5', '4', '3', '2', '1'])

  const first = await listRunFailures(run.sheet, '3', { limit: 3, cursor: null })
  const second = await listRunFailures(run.sheet, '3', { limit: 3, cursor: first.nextCursor })
  assert.deepEqual([first.failures.length, second.failures.length, second.nextCursor], [3, 2, null])
  const ids = [...first.failures, ...second.failures].map(({ recordId }) => recordId)
  assert.deepEqual(ids.toSorted(), ['0', '1', '2', '3', '4'])
  await assert.rejects(listRunFailures(run.sheet, '4', { limit: 3, cursor: first.nextCursor }), {
    type: 'ValidationError',
  })
  await assert.rejects(listRuns(run.sheet, { limit: 3, cursor: first.nextCursor }), {
    type: 'ValidationError',
  })
  for (const id of ['6', '0', '-1', 'x', '', '1e0', '01', '9'.repeat(400)]) {
    await assert.rejects(getRun(run.sheet, id), { type: 'SheetError' }, id)
  }
})

test('cancelling aborts calls under way, starts no other, keeps stored values and records the actor', async (t) => {
  const run = await openLookupSheet(t, numbered(100))
  await run.run({ recordIds: ['0', '1'] })
  await run.frames()
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  const waiting = assert.rejects(done, {
    type: 'OperationError',
    message: 'the run was cancelled by "user:ann"',
  })
  await hold.arrived(8)
  const cancelled = await cancelRun(run.sheet, id, 'user:ann')
  await waiting
  assert.deepEqual(
    [
      cancelled.state,
      cancelled.cancelledBy,
      cancelled.calls,
      cancelled.materialized,
      cancelled.error?.message,
    ],
    ['cancelled', 'user:ann', 8, 0, 'the run was cancelled by "user:ann"'],
  )
  assert.equal(run.api.requests.length, 10)
  assert.deepEqual(
    (await run.frames()).map((frame) => [frame.kind, 'message' in frame ? frame.message : null]),
    [
      ['materialize.start', null],
      ['materialize.error', 'the run was cancelled by "user:ann"'],
    ],
  )
  assert.deepEqual(await cancelRun(run.sheet, id, 'user:bo'), cancelled, 'a second time changes nothing')
  hold.release()
  assert.deepEqual(await run.run(), { materialized: 98, skipped: 2, failures: [], totalCost: 0 })
  await assert.rejects(cancelRun(run.sheet, '3', 'user:ann'), {
    type: 'OperationError',
    message: 'run 3 is not running any more, it is finished; nothing was cancelled',
  })
  assert.equal((await getRun(run.sheet, '3')).cancelledBy, null)
  await assert.rejects(cancelRun(run.sheet, '99', 'user:ann'), { type: 'SheetError' })
  await assert.rejects(cancelRun(run.sheet, '3', null), {
    type: 'ValidationError',
    message: 'actor is required',
  })
})

test('cancelling stops calls at once, however busy the store is', async (t) => {
  const run = await openLookupSheet(t, numbered(20))
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  const stopped = assert.rejects(done, { type: 'OperationError' })
  await hold.arrived(8)
  const { store } = await run.sheet.current()
  const busy = Promise.withResolvers<void>()
  const { requestCancel, endRun } = store
  store.requestCancel = async (...args) => {
    await busy.promise
    return requestCancel.apply(store, args)
  }
  store.endRun = async (...args) => {
    await busy.promise
    return endRun.apply(store, args)
  }
  const cancelling = cancelRun(run.sheet, id, 'user:ann')
  // The far end sees its callers hang up while the store still has other things to do.
  while (run.api.hungUp < 8) await new Promise(setImmediate)
  busy.resolve()
  assert.equal((await cancelling).state, 'cancelled')
  await stopped
})

test('a client that watches a run gets its end even if the store cannot record it', async (t) => {
  const run = await openLookupSheet(t, numbered(1))
  const hold = run.api.hold('*')
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  await hold.arrived()
  const watching = await watchToEnd(run, id)
  const { store } = await run.sheet.current()
  store.endRun = () => Promise.reject(new Error('the disk is full'))
  hold.release()
  await assert.rejects(done, /the disk is full/)
  assert.deepEqual(
    new Set((await watching.frames).map(({ kind }) => kind)),
    // Where servers share their frames, they see that nobody has the run lock: the run is told as an interrupted one.
    new Set(['run.progress', 'run.cells', ...perEngine({ sqlite: [], postgres: ['run.end'] })]),
  )
})

test('a client that begins to watch a run gets the calls that are under way', async (t) => {
  const run = await openLookupSheet(t, numbered(2))
  const hold = run.api.hold('*')
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  await hold.arrived(2)
  const watch = await watchRun(run.sheet, id)
  const told = Promise.withResolvers<void>()
  const subscription = watch.subscribe(() => {
    for (let frame = subscription.take(); frame; frame = subscription.take()) {
      const cells = frame.kind === 'run.cells' ? frame.cells : []
      if (cells.filter(({ state }) => state === 'running').length === 2) told.resolve()
    }
  })
  await told.promise
  hold.release()
  assert.equal((await done).materialized, 2)
})

test('long values are left out of the frames of a run', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x'.repeat(990) },
    { id: '2', a: 'x'.repeat(999) },
  ])
  const hold = run.api.hold('*')
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  await hold.arrived(2)
  const watching = await watchToEnd(run, id)
  hold.release()
  await done
  const cells = (await watching.frames).flatMap((frame) => (frame.kind === 'run.cells' ? frame.cells : []))
  const stored = cells.filter(({ state }) => state !== 'running')
  const hasValue = Object.fromEntries(stored.map((cell) => [cell.recordId, 'value' in cell]))
  assert.deepEqual(hasValue, { 1: true, 2: false })
})

test('the records that runs have stored values of are found by a condition, also when they changed since', async (t) => {
  const run = await openLookupSheet(t, numbered(4))
  await run.run({ recordIds: ['1', '2'] })
  await run.run({ recordIds: ['3'] })
  await run.write({ id: '2', a: '9' })
  const found = async (where: object): Promise<string> => {
    const { records } = await listRecords(run.sheet, { fields: ['id'], where: JSON.stringify(where) })
    return (JSON.parse(String(records)) as readonly { id: string }[]).map(({ id }) => id).join()
  }
  assert.equal(await found({ run: ['1'] }), '1,2')
  assert.equal(await found({ run: ['1', '2', 'none'] }), '1,2,3')
  assert.equal(
    await found({ and: [{ run: ['1'] }, { not: { field: 'id', operator: 'equals', value: '1' } }] }),
    '2',
  )
  assert.equal(await found({ run: ['x'] }), '')
  await assert.rejects(found({ run: [] }), /where\.run must be an array/)
  await assert.rejects(found({ run: ['1'], fields: ['b'] }), /where has the unknown key|fields/)
})

test('a run that waits for another can be cancelled, and the other continues', async (t) => {
  const run = await openLookupSheet(t, numbered(1))
  const hold = run.api.hold('*')
  const first = run.start()
  await hold.arrived()
  const second = await startMaterialize(run.sheet, REQUEST)
  const waiting = assert.rejects(second.done, { type: 'OperationError' })
  assert.equal((await getRun(run.sheet, second.id)).state, 'running')
  assert.equal((await cancelRun(run.sheet, second.id, 'user:ann')).state, 'cancelled')
  await waiting
  hold.release()
  assert.equal((await first).materialized, 1)
})

test('a run of another process is listed, watched and cancelled', async (t) => {
  const run = await openLookupSheet(t, numbered(3))
  const other = await runElsewhere(t, run)
  const { runs } = await listRuns(run.sheet, FIRST_PAGE)
  assert.deepEqual(
    runs.map(({ id, state, actor, total }) => [id, state, actor, total]),
    [['1', 'running', 'agent:other', 3]],
  )
  const watch = await watchRun(run.sheet, '1')
  assert.deepEqual(
    watch.first.map(({ kind }) => kind),
    ['run.progress'],
  )
  const second = await watchRun(run.sheet, '1')
  const leaving = second.subscribe(() => undefined)
  const others = [watch, second, watch].map(hearToEnd)
  leaving.close()
  const cancelled = await cancelRun(run.sheet, '1', 'user:ann')
  assert.deepEqual([cancelled.state, cancelled.cancelledBy], ['cancelled', 'user:ann'])
  for (const frames of await Promise.all(others)) assert.equal(frames.at(-1)?.kind, 'run.end')
  assert.equal(leaving.take(), undefined)
  await other.kill()
})

test('a run whose process was killed is interrupted, even without a further run', async (t) => {
  // On PostgreSQL another process goes on with such a run; shared-runs.test.ts is about that.
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, numbered(3))
  const other = await runElsewhere(t, run)
  assert.equal((await getRun(run.sheet, '1')).state, 'running')
  await other.kill()
  const { state, error, endedAt } = await getRun(run.sheet, '1')
  assert.deepEqual([state, error], ['interrupted', null])
  assert.ok(endedAt !== null)
  assert.deepEqual(
    (await (await watchToEnd(run, '1')).frames).map(({ kind }) => kind),
    ['run.end'],
  )
  assert.equal((await run.run()).materialized, 3)
  assert.deepEqual(
    (await listRuns(run.sheet, FIRST_PAGE)).runs.map(({ id, state: how }) => [id, how]),
    [
      ['2', 'finished'],
      ['1', 'interrupted'],
    ],
  )
})

test('a run that its stopping service ended is interrupted', async (t) => {
  const run = await openLookupSheet(t, numbered(1))
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  const stopped = assert.rejects(done)
  await hold.arrived()
  await run.sheet.close()
  await stopped
  const again = await openOnEngine(run.directory)
  onEnd(t, () => again.close())
  const { state, error } = await getRun(again, id)
  assert.deepEqual([state, error?.message], ['interrupted', 'the service is stopping'])
})

test('a run that could not get the lock has failed', async (t) => {
  const run = await openLookupSheet(t, numbered(1))
  const impatient = await openImpatient(t, run.directory)
  const hold = run.api.hold('*')
  const first = run.start()
  await hold.arrived()
  const second = await startMaterialize(impatient, REQUEST)
  await assert.rejects(second.done, { type: 'LockTimeoutError' })
  const { state, error, done, total } = await getRun(impatient, second.id)
  assert.deepEqual([state, error?.type, done, total], ['failed', 'LockTimeoutError', 0, 0])
  hold.release()
  await first
})

test('a client that watches a run gets its progress and its cells, then its end, with its result', async (t) => {
  const run = await openLookupSheet(t, [...numbered(20), { id: 'bad', a: 'bad' }])
  run.api.answer('/b/bad', { json: null, status: 500 })
  const hold = run.api.hold('/b/0')
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  await hold.arrived()
  const watching = await watchToEnd(run, id)
  hold.release()
  await done
  const frames = await watching.frames
  assert.equal(frames[0]?.kind, 'run.progress')
  const last = frames.at(-1)
  assert.ok(last?.kind === 'run.end')
  assert.deepEqual(
    [last.run.state, last.run.done, last.run.materialized, last.run.failed],
    ['finished', 21, 20, 1],
  )
  const cells = frames.flatMap((frame) => (frame.kind === 'run.cells' ? frame.cells : []))
  assert.deepEqual(
    cells.findLast(({ recordId }) => recordId === '0'),
    { recordId: '0', field: 'b', state: 'fresh', value: '<0>' },
  )
  const progress = frames.flatMap((frame) => (frame.kind === 'run.progress' ? [frame.progress.done] : []))
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
    'progress never goes back',
  )
  assert.deepEqual(
    (await (await watchToEnd(run, id)).frames).map(({ kind }) => kind),
    ['run.end'],
  )
})

test('limit runs the first records with pending cells, max_calls stops calling; the rest counts as skipped', async (t) => {
  const run = await openLookupSheet(t, [{ id: 'none' }, ...numbered(10)])
  assert.deepEqual(await run.run({ limit: 3 }), { materialized: 3, skipped: 8, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 3, missing: 8 })
  assert.equal(await run.value('2', 'b'), '<2>')
  assert.deepEqual(await run.run({ maxCalls: 4 }), {
    materialized: 4,
    skipped: 7,
    failures: [],
    totalCost: 0,
  })
  assert.equal(run.api.requests.length, 7)
  assert.equal((await run.run({ maxCalls: 0 })).materialized, 0)
  assert.equal((await run.run()).materialized, 3)
})

/** Makes the clock of this process jump ahead. */
function passTime(t: TestContext, ms: number): void {
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + ms)
}

test('D28: a call that waits for its permit is not made if its cells were written meanwhile', async (t) => {
  if (skipOnPostgres(t)) return
  // More records than are under way at a time: the last ones wait before their calls begin.
  const run = await openLookupSheet(t, numbered(120))
  await run.edit('transport.yaml', 'hosts: {"*": {concurrency: 2, cost_per_call: 1}}')
  const hold = run.api.hold('*')
  const { id, done } = await startMaterialize(run.sheet, { ...REQUEST, maxCalls: 120 })
  await hold.arrived(2)
  const edited = [...numbered(20).slice(2), ...numbered(100).slice(90)]
  await run.write(...edited.map((record) => ({ ...record, a: `new ${record.a}` })))
  await run.delete(
    ...numbered(30)
      .slice(20)
      .map((record) => record.id),
  )
  // A call is looked at again when it was planned a while ago.
  passTime(t, FRESH_MS)
  hold.release()
  const { materialized, skipped, totalCost } = await done
  assert.deepEqual([materialized, skipped, totalCost], [82, 38, 82])
  assert.equal(run.api.requests.length, 82)
  assert.equal((await getRun(run.sheet, id)).calls, 82)
  assert.deepEqual(await run.counts('b'), { fresh: 82, missing: 28 })
  assert.equal((await run.run()).materialized, 28)
})

test('a call that was sent still counts if its next try is not wanted: max_calls holds', async (t) => {
  if (skipOnPostgres(t)) return
  // The next try is due at once.
  t.mock.method(Math, 'random', () => 0)
  // More records than are under way at a time: the last ones find out whether a call is left when others have ended.
  const run = await openLookupSheet(t, numbered(520))
  await run.edit('transport.yaml', 'hosts: {"*": {retries: 1}}')
  run.api.answer('/b/0', { json: null, status: 503 })
  const first = run.api.hold('/b/0')
  const others = Array.from('123456789', (digit) => run.api.hold(`/b/${digit}*`))
  const running = run.start({ maxCalls: 512 })
  await first.arrived(1)
  await run.write({ id: '0', a: 'new' })
  // A cell is looked at again when its call was planned a while ago.
  passTime(t, FRESH_MS)
  first.release()
  // The place of the first call is free once its next try is found not to be wanted. A run that ends before has failed.
  await Promise.race([run.api.received(9), running])
  for (const hold of others) hold.release()
  await running
  assert.equal(new Set(run.api.requests.map(({ path }) => path)).size, 512)
})

test('the spending of a run is visible elsewhere before anything is stored', async (t) => {
  const run = await openLookupSheet(t, numbered(3))
  await run.edit('transport.yaml', 'hosts: {"*": {cost_per_call: 0.5}}')
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const other = await openOnEngine(run.directory)
  onEnd(t, () => other.close())
  const { id, done } = await startMaterialize(run.sheet, REQUEST)
  await hold.arrived(3)
  let seen = await getRun(other, id)
  // A call counts when it begins, and costs when it is sent.
  while (seen.totalCost < 1.5) seen = await getRun(other, id)
  assert.deepEqual([seen.state, seen.calls, seen.totalCost, seen.done], ['running', 3, 1.5, 0])
  hold.release()
  await done
})

test('only runs failed, missing or stale cells', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, numbered(3))
  run.api.answer('/b/1', { json: null, status: 500 })
  await run.run({ recordIds: ['0', '1'] })
  await run.write({ id: '0', a: 'new' })
  assert.deepEqual(await run.counts('b'), { stale: 1, failed: 1, missing: 1 })
  run.api.answer('/b/1', { json: { value: 'mended' } })
  assert.equal((await run.run({ only: 'failed' })).materialized, 1)
  assert.deepEqual(await run.counts('b'), { stale: 1, fresh: 1, missing: 1 })
  assert.equal((await run.run({ only: 'stale' })).materialized, 1)
  assert.deepEqual(await run.counts('b'), { fresh: 2, missing: 1 })
  assert.equal((await run.run({ only: 'stale' })).materialized, 0)
  assert.equal((await run.run({ only: 'missing' })).materialized, 1)
  assert.deepEqual(await run.counts('b'), { fresh: 3 })
})

test('invalid bounds are refused before anything is published', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, numbered(1))
  for (const bad of [{ limit: 0 }, { limit: 1.5 }, { maxCalls: -1 }, { maxCost: -0.1 }, { maxCost: NaN }]) {
    await assert.rejects(run.start(bad), { type: 'ValidationError' })
  }
  assert.deepEqual(await run.frames(), [])
})
