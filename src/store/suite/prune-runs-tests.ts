import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { ROWS_AT_ONCE, RUNS_AT_ONCE } from '../rules/prune-runs.ts'
import type { RunPruning } from '../stored-run.ts'
import type { SheetStore } from '../sheet-store.ts'
import type { FailedCell, RunId } from '../stored-run.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import { newRun, NOTHING_ELSE, TestSheet, type OpenStore } from './support/test-sheet.ts'

const ALL: RunPruning = { before: null, keep: 0 }

function failuresOf(count: number): FailedCell[] {
  return Array.from({ length: count }, (_, index) => {
    const recordId = String(index)
    return {
      recordId,
      field: 'one',
      error: 'failed',
      errorType: 'ServiceError',
      reason: 'status',
      responseBody: `body ${index}`,
    }
  })
}

async function endedRun(store: SheetStore, absent: readonly FailedCell[] = []): Promise<RunId> {
  const id = await store.startRun(newRun())
  await store.runLocked(id, { total: absent.length, absent, manual: 0 })
  const manual = { manualLeft: 0, manualOverwritten: 0 }
  const counts = { done: 0, total: 0, materialized: 0, failed: absent.length }
  const progress = { ...counts, ...manual, ...NOTHING_ELSE }
  await store.endRun(id, { state: 'finished', error: null, cancelledBy: null, progress })
  return id
}

/** Removes runs step by step; returns the number of runs, failures and steps. */
async function prune(store: SheetStore, which: RunPruning): Promise<number[]> {
  let [runs, failures, steps] = [0, 0, 0]
  for (let more = true; more; steps += 1) {
    const step = await store.pruneRuns(which)
    runs += step.runs
    failures += step.failures
    more = step.more
  }
  return [runs, failures, steps]
}

async function idsOf(store: SheetStore): Promise<RunId[]> {
  return (await store.runs({ before: null, limit: 10_000 })).map(({ id }) => id)
}

/** Returns the number of rows of runs in a copy of the store. */
async function rowsOf(t: TestContext, store: SheetStore): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-pruned-'))
  t.after(() => rmSync(directory, { recursive: true }))
  await store.snapshot(directory)
  const db = new DatabaseSync(join(directory, 'sheet.db'))
  try {
    return ['$run', '$run_failure', '$run_body'].map((table) =>
      Number(db.prepare(`SELECT count(*) AS count FROM "${table}"`).get()?.['count']),
    )
  } finally {
    db.close()
  }
}

/** Tests of removing ended runs with all their rows. */
export function testPruneRuns(open: OpenStore): void {
  const make = (t: TestContext): Promise<TestSheet> =>
    TestSheet.make(t, open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

  test('ended runs are removed with their failures, running ones never', async (t) => {
    const { store } = await make(t)
    const many = await endedRun(store, failuresOf(ROWS_AT_ONCE + 1))
    const few = await endedRun(store, failuresOf(2))
    const waiting = await store.startRun(newRun())
    const running = await store.startRun(newRun())
    await store.runLocked(running, { total: 1, absent: failuresOf(1), manual: 0 })
    assert.deepEqual(await store.prunableRuns(ALL), { runs: 2, failures: ROWS_AT_ONCE + 3 })
    const [runs, failures, steps = 0] = await prune(store, ALL)
    assert.deepEqual([runs, failures], [2, ROWS_AT_ONCE + 3])
    assert.ok(steps > 1, 'a large run is removed in steps')
    assert.deepEqual(await idsOf(store), [running, waiting])
    assert.equal((await store.runFailures({ run: running, after: 0, limit: 10 })).length, 1)
    assert.deepEqual(await store.runFailures({ run: many, after: 0, limit: 10 }), [])
    assert.equal(await store.run(few), null)
    assert.deepEqual(await rowsOf(t, store), [2, 1, 1])
    assert.deepEqual(await prune(store, ALL), [0, 0, 1])
    assert.equal(await store.startRun(newRun()), '5', 'ids are not given out again')
  })

  test('the newest runs can be kept, and those that ended after a time', async (t) => {
    const { store } = await make(t)
    const ids: RunId[] = []
    for (let count = 0; count <= RUNS_AT_ONCE + 5; count += 1) ids.unshift(await endedRun(store))
    const before = (await store.run(ids[0] ?? ''))?.endedAt ?? ''
    const first = (await store.run(ids.at(-1) ?? ''))?.endedAt ?? ''
    assert.equal((await store.prunableRuns({ before: first, keep: 0 })).runs, 0)
    assert.equal((await store.prunableRuns({ before: null, keep: ids.length })).runs, 0)
    assert.equal((await store.prunableRuns({ before: first, keep: 3 })).runs, 0)
    assert.deepEqual(await prune(store, { before: null, keep: 3 }), [ids.length - 3, 0, 2])
    assert.deepEqual(await idsOf(store), ids.slice(0, 3))
    const later = new Date(Date.parse(before) + 1).toISOString()
    assert.deepEqual(await prune(store, { before: later, keep: 2 }), [1, 0, 1])
    assert.deepEqual(await prune(store, { before: later, keep: 0 }), [2, 0, 1])
  })
  test('what a run has counted under its own keys is removed with it', async (t) => {
    const { store } = await make(t)
    const runs: RunId[] = []
    for (let count = 0; count < 10; count += 1) runs.push(await endedRun(store))
    const [first = '', tenth = ''] = [runs[0], runs[9]]
    assert.ok(tenth.startsWith(first))
    const usage = [first, tenth].map((run) => ({ key: `run ${run} steps`, amounts: { results: 1 } }))
    const other = { key: `run ${first}`, amounts: {} }
    const commit = { actor: 'agent:a', run: tenth, progress: NOTHING_ELSE, cells: [], cache: [] }
    await store.commitCells({ ...commit, usage: [...usage, other] })
    await prune(store, { before: null, keep: 9 })
    assert.equal(await store.usage(`run ${first} steps`), null)
    assert.equal((await store.usage(`run ${tenth} steps`))?.results, 1)
    assert.equal((await store.usage(other.key))?.results, 1)
  })
}
