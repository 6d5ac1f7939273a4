import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import type { SheetStore } from '../sheet-store.ts'
import type { RunEnd, RunId, RunProgress, StoredRun } from '../stored-run.ts'
import { CELL_PROPERTIES, CELL_TARGETS } from './support/cell-properties.ts'
import {
  AGENT,
  computed,
  HUMAN,
  IN_TURN,
  newRun,
  NOTHING_ELSE,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The silence, in milliseconds, after which a waiting run is too old to be taken over. */
const LONG_OVER = -11 * 60_000

const NO_RUNS = [
  '',
  '0',
  '00',
  '01',
  '-1',
  '+1',
  '1.0',
  '1e3',
  ' 1',
  '1 ',
  'x',
  '9'.repeat(15),
  '9'.repeat(16),
  '١',
]

const NO_CELLS = { done: 0, total: 0, materialized: 0, failed: 0, manualLeft: 0, manualOverwritten: 0 }

function ended(state: RunEnd['state'], progress: Partial<RunProgress> = {}): RunEnd {
  const nothing = { ...NO_CELLS, ...NOTHING_ELSE }
  return { state, error: null, cancelledBy: null, progress: { ...nothing, ...progress } }
}

/** Tests of a run in the store: its request, its state, its end. */
export function testStoredRuns(open: OpenStore): void {
  suite('stored runs', IN_TURN, () => {
    const sheet = TestSheet.shared(open, { properties: CELL_PROPERTIES, targets: CELL_TARGETS })

    const start = (more: Parameters<typeof newRun>[0] = {}): Promise<RunId> =>
      sheet.store.startRun(newRun(more))
    const stored = async (id: RunId, store: SheetStore = sheet.store): Promise<StoredRun> => {
      const run = await store.run(id)
      assert.ok(run, `no run ${id}`)
      return run
    }
    const stateOf = async (id: RunId): Promise<string> => (await stored(id)).state
    const locked = async (): Promise<RunId> => {
      const id = await start()
      await sheet.store.runLocked(id, { total: 0, absent: [], manual: 0 })
      return id
    }

    test('a new run is read with its request, also after a restart', async () => {
      const order = {
        actor: 'agent:orderer',
        targets: ['one', 'two'],
        force: true,
        overwriteManual: true,
        only: 'failed',
        limit: 5,
        maxCalls: 7,
        maxCost: 0.25,
        reuseResponses: true,
        stopAfterFailures: 9,
      } as const
      const recordIds = ['\u2028', 'b']
      const id = await start({ ...order, recordIds })
      assert.deepEqual(await sheet.store.runRecordIds(id), recordIds)
      const { startedAt, ...run } = await stored(id)
      assert.match(startedAt, TIME)
      assert.deepEqual(run, {
        id,
        kind: 'materialize',
        reverts: null,
        ...order,
        recordCount: 2,
        ...ended('finished').progress,
        state: 'running',
        endedAt: null,
        error: null,
        cancelledBy: null,
      })
      const revert = await stored(await start({ kind: 'revert', reverts: id }))
      assert.deepEqual(
        [revert.kind, revert.reverts, revert.targets, revert.recordCount],
        ['revert', id, null, null],
      )
      assert.equal(await sheet.store.runRecordIds(revert.id), null)
      await sheet.reopen()
      assert.deepEqual(await stored(id), { startedAt, ...run })
    })

    test('ids of runs are ascending, across stores that are open at once', async () => {
      const other = await sheet.openAnother()
      try {
        const ids = [await start(), await other.startRun(newRun()), await start()].map(Number)
        assert.deepEqual(
          ids,
          [0, 1, 2].map((more) => Number(ids[0]) + more),
        )
        assert.equal((await stored(String(ids[2]), other)).id, String(ids[2]))
      } finally {
        await other.close()
      }
    })

    test('an invalid id finds no run', async () => {
      await start()
      for (const id of NO_RUNS) {
        assert.equal(await sheet.store.run(id), null, JSON.stringify(id))
        assert.equal(await sheet.store.cancelRequest(id), null)
        assert.deepEqual(await sheet.store.runFailures({ run: id, after: 0, limit: 10 }), [])
        assert.deepEqual(await sheet.store.runEntries({ run: id, before: null, limit: 10 }), [])
        assert.equal(await sheet.store.runEntryCount(id), 0)
        await sheet.store.requestCancel(id, HUMAN)
      }
      const runs = await sheet.store.runs({ before: 'x', limit: 10 })
      assert.deepEqual(runs, [])
      assert.ok(
        (await sheet.store.runs({ before: null, limit: 100 })).every(
          ({ cancelledBy }) => cancelledBy === null,
        ),
      )
    })

    test('runs are read newest first, page by page', async () => {
      const ids = [await start(), await start(), await start()].toReversed()
      const page = async (before: RunId | null): Promise<RunId[]> =>
        (await sheet.store.runs({ before, limit: 2 })).map(({ id }) => id)
      assert.deepEqual(await page(null), ids.slice(0, 2))
      assert.equal((await page(ids[1] ?? null))[0], ids[2])
      assert.deepEqual(await page('1'), [])
    })

    test('a page of runs ends at its limit in bytes, and has at least one run', async () => {
      const targets = Array.from({ length: 2000 }, (_, index) => `${index}`.padEnd(1500, 'x'))
      const ids = [await start({ targets }), await start({ targets }), await start({ targets })].toReversed()
      const page = async (before: RunId | null, limit: number): Promise<RunId[]> =>
        (await sheet.store.runs({ before, limit })).map(({ id }) => id)
      assert.deepEqual(await page(null, 10_000), ids.slice(0, 2))
      assert.deepEqual((await page(ids[1] ?? null, 10_000)).slice(0, 1), ids.slice(2))
    })

    test('an ended run has its final counts, its time and its error', async () => {
      const id = await locked()
      const money = { calls: 4, totalCost: 1.5, unpricedCalls: 2 }
      const counts = { total: 9, materialized: 3, skipped: 4, left: 3, failed: 1, ...money }
      const error = {
        type: 'OperationError',
        code: 'run_cancelled',
        message: 'cancelled by "human:ann"',
      } as const
      await sheet.store.endRun(id, { ...ended('cancelled', { ...counts, done: 8 }), error })
      const run = await stored(id)
      assert.match(run.endedAt ?? '', TIME)
      assert.deepEqual({ ...run, ...counts, state: 'cancelled', error, done: 8 }, run)
      const fine = await locked()
      await sheet.store.endRun(fine, ended('finished'))
      assert.deepEqual([(await stored(fine)).state, (await stored(fine)).error], ['finished', null])
    })

    test('the first actor who cancels a run is recorded, unless it has ended; another store sees it', async () => {
      const id = await start()
      const other = await sheet.openAnother()
      try {
        assert.equal(await other.cancelRequest(id), null)
        await sheet.store.requestCancel(id, 'human:first')
        await sheet.store.requestCancel(id, 'human:second')
        assert.equal(await other.cancelRequest(id), 'human:first')
        const { state, cancelledBy } = await stored(id, other)
        assert.deepEqual({ state, cancelledBy }, { state: 'running', cancelledBy: 'human:first' })
      } finally {
        await other.close()
      }
      const over = await locked()
      await sheet.store.endRun(over, ended('finished'))
      await sheet.store.requestCancel(over, HUMAN)
      assert.equal((await stored(over)).cancelledBy, null)
    })

    test('runs whose process has died are interrupted, with the time of their last commit as end', async () => {
      await sheet.write([{ id: 'interrupted', a: 'x' }])
      const [dead, except, over] = [await locked(), await locked(), await locked()]
      await sheet.commitTo(
        dead,
        [sheet.result(await sheet.workOf('interrupted', 'one'), 'one', computed('v', 'interrupted'))],
        {
          skipped: 2,
        },
      )
      const lastStored = (await sheet.latest('interrupted', 'one'))?.['at']
      await sheet.store.endRun(over, ended('finished'))
      const [waiting, gone] = [await start(), await start({ silentMs: LONG_OVER })]
      await sheet.store.interruptRuns(except)
      const { state, endedAt, error, materialized, skipped } = await stored(dead)
      assert.deepEqual(
        { state, endedAt, error, materialized, skipped },
        { state: 'interrupted', endedAt: lastStored, error: null, materialized: 1, skipped: 2 },
      )
      assert.equal(await stateOf(except), 'running')
      assert.equal(await stateOf(over), 'finished')
      assert.equal(await stateOf(waiting), 'running', 'it may still be waiting for the lock')
      assert.equal(await stateOf(gone), 'interrupted')
      assert.equal((await stored(gone)).endedAt, (await stored(gone)).startedAt)
      await sheet.store.interruptRuns(null)
      assert.equal(await stateOf(except), 'interrupted')
      assert.equal(await stateOf(waiting), 'running')
    })

    test('a run that was given up while it waited runs if it gets the lock after all', async () => {
      const id = await start({ silentMs: LONG_OVER })
      await sheet.store.interruptRuns(id)
      assert.equal(await stateOf(id), 'running', 'it is the one that asks')
      await sheet.store.interruptRuns(null)
      assert.equal(await stateOf(id), 'interrupted')
      await sheet.store.runLocked(id, { total: 1, absent: [], manual: 0 })
      const { state, endedAt } = await stored(id)
      assert.deepEqual({ state, endedAt }, { state: 'running', endedAt: null })
    })
  })

  test('D2: in a new store beside an earlier log, ids of runs continue', async (t) => {
    const line = (seq: number, more: JsonObject): JsonObject => ({
      seq,
      at: '2026-01-01T00:00:00.000Z',
      actor: AGENT,
      source: 'http',
      record_id: 'a',
      field: 'one',
      value: 'v',
      previous: null,
      ...more,
    })
    const runIds = ['7', '41', '5', 99, '1e9', null, ['50']].map((id) => ({ run_id: id }))
    const log = [...runIds, {}].map((more, index) => line(index + 1, more))
    const sheet = await TestSheet.make(t, open, {
      properties: CELL_PROPERTIES,
      targets: CELL_TARGETS,
      log,
    })
    assert.equal(await sheet.store.startRun(newRun()), '42')
    assert.equal(await sheet.store.run('41'), null)
  })
}
