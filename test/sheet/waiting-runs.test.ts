import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { finishOrphanedRuns } from '../../src/sheet/runs/coordination/finish-orphaned-runs.ts'
import { startMaterialize, type StartedRun } from '../../src/sheet/runs/materialize.ts'
import { startRevert } from '../../src/sheet/runs/revert.ts'
import { OrphanRecovery } from '../../src/sheet/runs/coordination/orphan-recovery.ts'
import type { RunSelection } from '../../src/sheet/runs/selection/run-selection.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { timeText } from '../../src/store/postgres/database/database-clock.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import type { SheetStore } from '../../src/store/sheet-store.ts'
import type { RunId } from '../../src/store/stored-run.ts'
import { newRun } from '../../src/store/suite/support/test-sheet.ts'
import { hearFrames } from '../support/hear-frames.ts'
import { onEnd } from '../support/on-end.ts'
import { ACTOR, ALL, offers, runOffers, sharedOffers, watchedEnd } from '../support/shared-offers.ts'

const NEVER = new AbortController().signal

/** Starts a run that somebody else than the others asks for. */
function start(sheet: Sheet, selection: Partial<RunSelection>, actor = 'human:bob'): Promise<StartedRun> {
  return startMaterialize(sheet, { ...ALL, ...selection, actor })
}

async function storeOf(sheet: Sheet): Promise<SheetStore> {
  return (await sheet.current()).store
}

/** Looks for runs that were left, as a server or worker does for as long as it is there. */
function keep(t: TestContext, sheet: Sheet): void {
  const recovery = new OrphanRecovery(sheet)
  onEnd(t, async () => {
    await Promise.all([sheet.stopRuns(), recovery.stop()])
  })
}

/** The runs that wrote entries, in the order in which they began to. */
async function runsOf(store: SheetStore, ids: readonly RunId[]): Promise<readonly RunId[]> {
  const first = await Promise.all(
    ids.map(async (id) => {
      const entries = await store.runEntries({ run: id, before: null, limit: 1000 })
      return { id, seq: entries.at(-1)?.seq ?? Infinity }
    }),
  )
  return first.toSorted((a, b) => a.seq - b.seq).map(({ id }) => id)
}

async function change(url: string, sql: string): Promise<void> {
  const database = new Database(parseStoreUrl(url))
  await database.exec(sql)
  await database.close()
}

/** Has nothing been heard of the process with which a run waits for longer than that may be. */
function silence(url: string, run: RunId): Promise<void> {
  return change(
    url,
    `UPDATE "$run" SET waits_until = ${timeText(`- interval '1 minute'`)} WHERE id = ${run} AND waits_until IS NOT NULL`,
  )
}

test('waiting runs of a stopping server continue elsewhere, in order and as requested', async (t) => {
  const sheet = await sharedOffers(t, offers(6, 6))
  const other = await sheet.open({ handOverRuns: true })
  await runOffers(other)
  const leaving = await sheet.open({ handOverRuns: true })
  const hold = sheet.api.hold('/rate/C0')
  const first = await start(leaving, { targets: ['rate'], force: true }, ACTOR)
  await hold.arrived(1)
  const waiting = [
    await start(leaving, { targets: ['rate'], recordIds: ['r1', 'r2', 'r3'], force: true, maxCalls: 2 }),
    await start(
      leaving,
      { targets: ['total'], recordIds: ['r4'], force: true, stopAfterFailures: 7 },
      'agent:x',
    ),
  ]
  const revert = await startRevert(leaving, { runId: '1', actor: ACTOR })
  const keeping = await start(leaving, { keepFresh: 'total.yaml' })
  const told = Promise.allSettled([first, ...waiting, revert, keeping].map(({ done }) => done))
  const frames = await hearFrames(other)
  await leaving.close()
  for (const outcome of await told) {
    assert.match(String('reason' in outcome && outcome.reason), /continues at another server or worker/)
  }
  hold.release()
  keep(t, other)
  const store = await storeOf(other)
  const ends = await Promise.all(['2', '3', '4', '5', '6'].map((id) => watchedEnd(t, other, id)))
  assert.deepEqual(
    ends.map(({ state, actor, materialized, skipped }) => [state, actor, materialized, skipped]),
    [
      ['finished', ACTOR, 6, 0],
      ['finished', 'human:bob', 2, 1],
      ['finished', 'agent:x', 1, 0],
      ['finished', ACTOR, 5, 7],
      ['finished', 'human:bob', 0, 6],
    ],
  )
  assert.deepEqual([ends[1]?.maxCalls, ends[2]?.stopAfterFailures], [2, 7])
  assert.deepEqual(await runsOf(store, ['5', '4', '3', '2']), ['2', '3', '4', '5'])
  // The last is told right after its run has ended.
  const published: string[] = []
  while (published.length < 4)
    published.push(...(await frames()).map(({ kind, actor }) => `${kind} ${actor}`))
  assert.deepEqual(
    published,
    [ACTOR, 'human:bob', 'agent:x', 'human:bob'].map((actor) => `materialize.end ${actor}`),
    'D40: each is told to have ended once',
  )
})

test('a waiting run whose process has died comes before one that was accepted later', async (t) => {
  const sheet = await sharedOffers(t, offers(2, 2))
  const server = await sheet.open()
  const store = await storeOf(server)
  const gone = await store.startRun(newRun({ actor: 'human:gone', targets: ['rate'], silentMs: -60_000 }))
  const { materialized } = await runOffers(server)
  const { state, actor, materialized: before } = (await store.run(gone)) ?? {}
  assert.deepEqual([state, actor, before, materialized], ['finished', 'human:gone', 2, 2])
})

test('a run for which its own server still waits is not started twice, and that server has its result', async (t) => {
  const sheet = await sharedOffers(t, offers(4, 4))
  const [waiting, taking] = [await sheet.open(), await sheet.open()]
  const store = await storeOf(taking)
  const lock = await store.lockRun(0, NEVER)
  const { id, done } = await start(waiting, { targets: ['rate'] })
  await finishOrphanedRuns(taking, store, { lock, waiting: null })
  assert.equal((await store.run(id))?.total, 0, 'it is waited with')
  while ((await store.run(id))?.state === 'running') {
    await silence(sheet.url, id)
    await finishOrphanedRuns(taking, store, { lock, waiting: null })
  }
  lock.release()
  assert.deepEqual(await done, { materialized: 4, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(sheet.api.requests.length, 4)
  assert.equal((await runOffers(waiting, { targets: ['rate'] })).skipped, 4)
})

test('a run that another server has taken over can be cancelled at the one that accepted it', async (t) => {
  const sheet = await sharedOffers(t, offers(4, 4))
  const [waiting, taking] = [await sheet.open(), await sheet.open()]
  const store = await storeOf(taking)
  const hold = sheet.api.hold('/rate/C0')
  const lock = await store.lockRun(0, NEVER)
  const { id, done } = await start(waiting, { targets: ['rate'] })
  const told = assert.rejects(done, /was cancelled by "human:eve"/)
  const finishing = (async () => {
    while ((await store.run(id))?.state === 'running') {
      await silence(sheet.url, id)
      await finishOrphanedRuns(taking, store, { lock, waiting: null })
    }
  })()
  await hold.arrived(1)
  const { state, cancelledBy } = await cancelRun(waiting, id, 'human:eve')
  assert.deepEqual([state, cancelledBy], ['cancelled', 'human:eve'])
  await Promise.all([told, finishing])
  hold.release()
  lock.release()
})

test('a run that waits at a server that is halted with the run lock is taken over', async (t) => {
  const sheet = await sharedOffers(t, offers(2, 2))
  const [server, halted] = [await sheet.open(), await sheet.open()]
  const store = await storeOf(halted)
  // It has the lock, and says nothing of any run.
  const lock = await store.lockRun(0, NEVER)
  const gone = await store.startRun(newRun({ targets: ['rate'], silentMs: -60_000 }))
  keep(t, server)
  const { state, materialized } = await watchedEnd(t, server, gone)
  assert.deepEqual([state, materialized], ['finished', 2])
  lock.release()
})

test('a waiting run without a server is interrupted when it has expired', async (t) => {
  const sheet = await sharedOffers(t, offers(2, 2))
  const server = await sheet.open()
  const store = await storeOf(server)
  const states = async (): Promise<unknown[]> =>
    (await store.runs({ before: null, limit: 10 })).map(({ state }) => state).toReversed()
  const old = await store.startRun(newRun({ silentMs: -11 * 60_000 }))
  await store.interruptRuns(null)
  assert.deepEqual(await states(), ['interrupted'])
  await store.startRun(newRun({ silentMs: -9 * 60_000 }))
  await store.interruptRuns(null)
  assert.deepEqual(await states(), ['interrupted', 'running'])
  await runOffers(server)
  assert.deepEqual(await states(), ['interrupted', 'finished', 'finished'])
  assert.equal((await store.run(old))?.materialized, 0)
})
