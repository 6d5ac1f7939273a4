import { skipOnPostgres } from '../support/engine.ts'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../src/contract/json/json.ts'
import {
  LockTimeoutError,
  OperationError,
  PermissionDeniedError,
  SheetError,
  ValidationError,
} from '../../src/errors/service-error.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize, type MaterializeRequest } from '../../src/sheet/runs/materialize.ts'
import { getRun, listRuns } from '../../src/sheet/runs/read-runs.ts'
import { revertCell, startRevert, type RevertReport } from '../../src/sheet/runs/revert.ts'
import type { NewRun } from '../../src/store/stored-run.ts'
import { answerLookups, lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { openImpatient } from '../support/sheet-fixture.ts'

const ACTOR = 'agent:undo'

/** Time for the lock of an earlier run to become free, which on PostgreSQL is some time after the run's end. */
const PATIENT_MS = 60_000

/** A sheet where `b` is looked up by `a`, and `c` by `b`. */
async function openChain(t: TestContext, ids: readonly string[]): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      "{name: b, logicalType: string, x-editable-by: ['user:*']}",
      'c: string',
      'note: string',
    ],
    records: ids.map((id) => ({ id, a: id })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'b') }),
  })
  answerLookups(run.api)
  return run
}

/** Runs derivations to the end; answers with the run's id. */
async function compute(run: RunSheet, request: Partial<MaterializeRequest> = {}): Promise<string> {
  const all = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }
  const { id, done } = await startMaterialize(run.sheet, { ...all, ...request })
  await done
  return id
}

async function undo(run: RunSheet, runId: string): Promise<RevertReport> {
  const { id, done } = await startRevert(run.sheet, { runId, actor: ACTOR })
  const report = await done
  assert.equal(report.runId, id)
  await run.checkStatus()
  const { store } = await run.sheet.current()
  const lock = await store.lockRun(PATIENT_MS, run.sheet.stopping)
  lock.release()
  return report
}

async function values(run: RunSheet, id: string): Promise<unknown[]> {
  const { b, c } = await run.record(id)
  return [b, c]
}

const conflictsOf = (...cells: readonly string[]): JsonObject[] =>
  cells.map((cell) => {
    const [recordId = '', field = ''] = cell.split('.')
    return { recordId, field }
  })

test('reverting a first run leaves everything missing, and the next run makes the calls again', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1', '2', '3'])
  const first = await compute(run)
  const calls = run.api.requests.length
  const { reverted, conflicts, runId } = await undo(run, first)
  assert.deepEqual({ reverted, conflicts }, { reverted: 6, conflicts: [] })
  assert.deepEqual(await values(run, '2'), [null, null])
  assert.deepEqual(await run.counts('b'), { missing: 3 })
  assert.deepEqual(await run.counts('c'), { missing: 3 })

  const { startedAt, endedAt, ...row } = await getRun(run.sheet, runId ?? '')
  assert.ok(startedAt <= (endedAt ?? ''))
  assert.deepEqual(row, {
    id: runId,
    kind: 'revert',
    reverts: first,
    state: 'finished',
    actor: ACTOR,
    targets: null,
    recordCount: null,
    force: false,
    overwriteManual: false,
    only: null,
    limit: null,
    maxCalls: null,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
    done: 6,
    total: 6,
    materialized: 6,
    skipped: 0,
    failed: 0,
    calls: 0,
    totalCost: 0,
    unpricedCalls: 0,
    left: 0,
    manualLeft: 0,
    manualOverwritten: 0,
    error: null,
    cancelledBy: null,
  })
  assert.deepEqual(
    (await run.frames()).map(({ kind }) => kind),
    ['materialize.start', 'materialize.end'],
    'a revert publishes nothing',
  )

  assert.deepEqual(await run.run(), { materialized: 6, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(run.api.requests.length, 2 * calls, 'answers that were taken back are not used again')
  assert.deepEqual(await values(run, '2'), ['<2>', '<<2>>'])
})

test('forced wrong values are reverted: the earlier values are back and fresh', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1', '2'])
  await compute(run)
  run.api.answer('*', { json: { value: 'bad' } })
  const forced = await compute(run, { targets: ['b'], force: true })
  assert.deepEqual(await values(run, '1'), ['bad', '<<1>>'])
  assert.deepEqual(await run.counts('c'), { stale: 2 })

  assert.equal((await undo(run, forced)).reverted, 2)
  assert.deepEqual(await values(run, '1'), ['<1>', '<<1>>'])
  assert.deepEqual(await run.counts('b'), { fresh: 2 })
  assert.deepEqual(await run.counts('c'), { stale: 2 })
  const entry = await run.entry('1', 'b')
  assert.deepEqual([entry?.['source'], entry?.['value']], ['revert', '<1>'])

  const calls = run.api.requests.length
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 4, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('c'), { fresh: 2 }, 'D32: its inputs are what they were')
  assert.equal(run.api.requests.length, calls)
})

test('runs are reverted one after another, the last first, and then the calls are made again', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  const runs: string[] = []
  for (const value of ['v0', 'v1', 'v2']) {
    run.api.answer('/b/1', { json: { value } })
    runs.push(await compute(run, { targets: ['b'], force: true }))
  }
  for (const [index, value] of ['v1', 'v0', null].entries()) {
    const last = runs[2 - index] ?? ''
    assert.equal((await undo(run, last)).reverted, 1)
    assert.equal(await run.value('1', 'b'), value)
    assert.deepEqual((await undo(run, last)).conflicts, conflictsOf('1.b'))
  }
  run.api.answer('/b/1', { json: { value: 'good' } })
  await compute(run, { targets: ['b'] })
  assert.equal(await run.value('1', 'b'), 'good')
})

test('a reverted result does not reach another record with the same inputs', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  run.api.answer('/b/1', { json: { value: 'bad' } })
  await undo(run, await compute(run, { targets: ['b'] }))
  run.api.answer('/b/1', { json: { value: 'good' } })
  await run.write({ id: 'twin', a: '1' })
  await compute(run, { targets: ['b'], recordIds: ['twin'] })
  assert.equal(await run.value('twin', 'b'), 'good')
})

test('D27: values computed from computed values are reverted as well', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  await compute(run)
  run.api.answer('/b/1', { json: { value: 'other' } })
  const forced = await compute(run, { force: true })
  assert.deepEqual(await values(run, '1'), ['other', '<other>'])
  assert.equal((await undo(run, forced)).reverted, 2)
  assert.deepEqual(await values(run, '1'), ['<1>', '<<1>>'])
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
  const calls = run.api.requests.length
  await run.run()
  assert.deepEqual(await run.counts('c'), { fresh: 1 })
  assert.equal(run.api.requests.length, calls)
})

test('D28: reverting a run restores an overwritten manual value as an override', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1', '2'])
  await run.write({ id: '1', b: 'by hand' })
  await compute(run)
  const forced = await compute(run, {
    targets: ['b'],
    force: true,
    overwriteManual: true,
    actor: 'user:ann',
  })
  assert.equal(await run.value('1', 'b'), '<1>')
  assert.deepEqual(await undo(run, forced).then(({ reverted }) => reverted), 2)
  assert.equal(await run.value('1', 'b'), 'by hand')
  assert.deepEqual(await run.counts('b'), { fresh: 1, overridden: 1 })
})

test('cells written, computed or deleted since a run are conflicts and are skipped', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['kept', 'corrected', 'gone', 'again', 'newer'])
  const first = await compute(run, { targets: ['b'] })
  await run.write({ id: 'corrected', b: 'by hand' })
  await run.delete('gone', 'again')
  await run.write({ id: 'again', a: 'again' })
  await compute(run, { targets: ['b'], recordIds: ['newer'], force: true })

  const { reverted, conflicts } = await undo(run, first)
  assert.equal(reverted, 1)
  assert.deepEqual(
    conflicts.toSorted((x, y) => x.recordId.localeCompare(y.recordId)),
    conflictsOf('again.b', 'corrected.b', 'gone.b', 'newer.b'),
  )
  assert.equal(await run.value('kept', 'b'), null)
  assert.equal(await run.value('corrected', 'b'), 'by hand')
  assert.equal(await run.value('newer', 'b'), '<newer>')
  assert.equal(await run.value('again', 'b'), null)
})

test('a revert can be reverted, and a second revert of the same run finds conflicts only', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1', '2'])
  const first = await compute(run)
  const once = await undo(run, first)
  const twice = await undo(run, first)
  assert.equal(twice.reverted, 0)
  assert.deepEqual(
    new Set(twice.conflicts.map(({ recordId, field }) => `${recordId}.${field}`)),
    new Set(['1.b', '1.c', '2.b', '2.c']),
  )
  assert.deepEqual((await undo(run, once.runId ?? '')).reverted, 4)
  assert.deepEqual(await values(run, '1'), ['<1>', '<<1>>'])
  const calls = run.api.requests.length
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 4, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('c'), { fresh: 2 })
  assert.equal(run.api.requests.length, calls)
  assert.equal((await undo(run, twice.runId ?? '')).reverted, 0, 'it wrote nothing')
})

test('one entry of a cell is reverted by its seq, with the permission to write the field', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  await run.write({ id: '1', note: 'first', b: 'by hand' })
  await run.write({ id: '1', note: 'second' })
  const seqOf = async (field: string): Promise<number> => Number((await run.entry('1', field))?.['seq'])
  const cell = async (field: string, actor = ACTOR): Promise<RevertReport> =>
    revertCell(run.sheet, { recordId: '1', field, seq: await seqOf(field), actor })

  assert.deepEqual(await cell('note'), { reverted: 1, conflicts: [], runId: null })
  assert.equal(await run.value('1', 'note'), 'first')
  const { seq, at, ...entry } = (await run.entry('1', 'note')) ?? {}
  assert.ok(seq && at)
  const written = (await run.history('1', 'note')).map((each) => each['seq'])
  assert.deepEqual(entry, {
    actor: ACTOR,
    source: 'revert',
    record_id: '1',
    field: 'note',
    value: 'first',
    previous: 'second',
    reverts: written[1],
  })

  await assert.rejects(cell('b'), PermissionDeniedError)
  assert.equal(await run.value('1', 'b'), 'by hand')
  assert.equal((await cell('b', 'user:ann')).reverted, 1)
  assert.deepEqual(await run.counts('b'), { missing: 1 })
  await compute(run)
  assert.equal((await cell('c')).reverted, 1, 'anybody may undo what was computed')
  assert.deepEqual((await listRuns(run.sheet, { limit: null, cursor: null })).runs.length, 1)
})

test('requests that cannot be reverted are refused', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, ['1'])
  const cell = { recordId: '1', field: 'a', seq: 1, actor: ACTOR }
  await assert.rejects(revertCell(run.sheet, { ...cell, field: 'nothing' }), ValidationError)
  await assert.rejects(revertCell(run.sheet, { ...cell, field: 'id' }), ValidationError)
  await assert.rejects(revertCell(run.sheet, { ...cell, actor: null }), /actor is required/)
  await assert.rejects(revertCell(run.sheet, { ...cell, recordId: 'nobody' }), SheetError)
  await assert.rejects(revertCell(run.sheet, { ...cell, seq: 99 }), SheetError)
  for (const runId of ['7', 'seven', '', '-1', '1e9']) {
    await assert.rejects(startRevert(run.sheet, { runId, actor: ACTOR }), (error) => {
      assert.ok(error instanceof SheetError)
      assert.ok(error.message.startsWith(`no run ${JSON.stringify(runId)}`), error.message)
      return true
    })
  }
  await assert.rejects(startRevert(run.sheet, { runId: '7', actor: null }), /actor is required/)
  assert.deepEqual((await listRuns(run.sheet, { limit: null, cursor: null })).runs, [])
})

test('a running run cannot be reverted', async (t) => {
  const run = await openChain(t, ['1'])
  const hold = run.api.hold('*')
  const { id, done } = await startMaterialize(run.sheet, {
    targets: null,
    recordIds: null,
    force: false,
    actor: 'agent:runner',
  })
  await hold.arrived()
  await assert.rejects(startRevert(run.sheet, { runId: id, actor: ACTOR }), (error) => {
    assert.ok(error instanceof OperationError)
    assert.match(error.message, /run 1 is still running.*cancel/)
    return true
  })
  hold.release()
  await done
  assert.equal((await undo(run, id)).reverted, 2)
})

test('D31: a revert waits for the run under way, and can be cancelled while it waits', async (t) => {
  const run = await openChain(t, ['1'])
  const first = await compute(run)
  const hold = run.api.hold('*')
  const forced = compute(run, { force: true })
  await hold.arrived()

  const cancelled = await startRevert(run.sheet, { runId: first, actor: ACTOR })
  const refused = assert.rejects(cancelled.done, /cancelled by "user:ann"/)
  assert.equal((await cancelRun(run.sheet, cancelled.id, 'user:ann')).state, 'cancelled')
  await refused

  const waiting = await startRevert(run.sheet, { runId: first, actor: ACTOR })
  hold.release()
  await forced
  assert.deepEqual((await waiting.done).reverted, 0, 'what was forced meanwhile is newer')
})

test('D31: a revert that waits too long fails', async (t) => {
  const run = await openChain(t, ['1'])
  const first = await compute(run)
  const impatient = await openImpatient(t, run.directory)
  const { store } = await run.sheet.current()
  const lock = await store.lockRun(PATIENT_MS, run.sheet.stopping)
  const { id, done } = await startRevert(impatient, { runId: first, actor: ACTOR })
  await assert.rejects(done, LockTimeoutError)
  lock.release()
  const { state, error } = await getRun(run.sheet, id)
  assert.deepEqual([state, error?.type], ['failed', 'LockTimeoutError'])
  assert.equal(await run.value('1', 'b'), '<1>')
})

test('closing a sheet ends its reverts, and their rows record it', async (t) => {
  const run = await openChain(t, ['1'])
  const first = await compute(run)
  const { store } = await run.sheet.current()
  const lock = await store.lockRun(PATIENT_MS, run.sheet.stopping)
  const { id, done } = await startRevert(run.sheet, { runId: first, actor: ACTOR })
  const refused = assert.rejects(done, /the service is stopping/)
  await run.sheet.stopRuns()
  await refused
  assert.equal((await store.run(id))?.state, 'interrupted')
  await assert.rejects(startRevert(run.sheet, { runId: first, actor: ACTOR }), /the service is stopping/)
  lock.release()
})

/** A sheet of 1,200 records, and a run that gave each the value that the one before it had in a unique field. */
async function openShifted(t: TestContext): Promise<{ run: RunSheet; shifted: string }> {
  const run = await openRunSheet(t, {
    properties: ['a: string', '{name: b, logicalType: string, unique: true}'],
    records: Array.from({ length: MANY }, (_, index) => ({ id: `${index}`, a: 'x' })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  await computeAll(run, (index) => `v${index}`)
  const shifted = await computeAll(run, (index) => `v${index - 1}`)
  assert.equal(await run.value('700', 'b'), 'v699')
  return { run, shifted }
}

const MANY = 1200

/** Stores a run over all records without making its calls. */
async function computeAll(run: RunSheet, value: (index: number) => string): Promise<string> {
  const { store } = await run.sheet.current()
  const id = await store.startRun(NEW_RUN)
  const all = { force: true, state: null, after: null, limit: MANY, only: null }
  const items = await store.work({ targets: ['b'], inputs: [], ...all })
  const cells = items.map(({ key, cells: [cell] }, index) => ({
    key,
    target: 'b',
    version: cell?.version ?? '',
    sha256: '',
    result: {
      kind: 'computed' as const,
      value: value(index),
      inputHash: `sha256:${'0'.repeat(64)}`,
      provenance: {},
    },
  }))
  const progress = { skipped: 0, left: 0, calls: 0, totalCost: 0, unpricedCalls: 0 }
  await store.commitCells({ actor: 'agent:runner', run: id, progress, cells, cache: [] })
  const manual = { manualLeft: 0, manualOverwritten: 0 }
  const totals = { done: MANY, total: MANY, materialized: MANY, failed: 0, ...manual, ...progress }
  await store.endRun(id, { state: 'finished', error: null, cancelledBy: null, progress: totals })
  return id
}

test('a large run is reverted from its end, so that values of a unique field do not conflict', async (t) => {
  const { run, shifted } = await openShifted(t)
  assert.deepEqual((await undo(run, shifted)).conflicts, [])
  for (const id of ['0', '499', '500', '1199']) assert.equal(await run.value(id, 'b'), `v${id}`)
})

test('a cancelled revert keeps what it has reverted, and another one continues', async (t) => {
  const { run, shifted } = await openShifted(t)
  const { store } = await run.sheet.current()
  const { id, done } = await startRevert(run.sheet, { runId: shifted, actor: ACTOR })
  const refused = assert.rejects(done, /cancelled by "user:ann"/)
  while ((await store.run(id))?.materialized === 0) await nextTurn()
  run.sheet.runs.get(id)?.cancel('user:ann')
  await refused
  const { state, total, materialized } = await getRun(run.sheet, id)
  assert.deepEqual({ state, total }, { state: 'cancelled', total: MANY })
  assert.ok(materialized > 0 && materialized < MANY, `${materialized} cells were put back`)
  assert.equal(await run.value('1199', 'b'), 'v1199')
  assert.equal(await run.value('0', 'b'), 'v-1')

  const { reverted, conflicts } = await undo(run, shifted)
  assert.equal(reverted, MANY - materialized)
  assert.deepEqual(
    conflicts.map(({ recordId }) => Number(recordId)),
    Array.from({ length: materialized }, (_, index) => reverted + index),
    'in the order in which the run wrote them',
  )
  assert.equal(await run.value('0', 'b'), 'v0')
})

const NEW_RUN: NewRun = {
  kind: 'materialize',
  reverts: null,
  actor: 'agent:runner',
  targets: null,
  recordIds: null,
  force: true,
  overwriteManual: false,
  only: null,
  limit: null,
  maxCalls: null,
  maxCost: null,
  reuseResponses: false,
  stopAfterFailures: null,
  silentMs: 1000,
}
