import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { getRecordAsOf } from '../../src/sheet/queries/get-record.ts'
import { finishOrphanedRuns } from '../../src/sheet/runs/coordination/finish-orphaned-runs.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { recoverOrphanedRuns } from '../../src/sheet/runs/coordination/finish-orphaned-runs.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { readTime } from '../../src/store/postgres/database/database-clock.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import type { SheetStore } from '../../src/store/sheet-store.ts'
import { hearFrames } from '../support/hear-frames.ts'
import { onEnd } from '../support/on-end.ts'
import { ACTOR, ALL, offers, runOffers, sharedOffers, type SharedOffers } from '../support/shared-offers.ts'

/** The offset of each server's clock from that of the database. */
const SKEW_MS = 7000

/** Two servers of a sheet, one ahead of the database's clock and one behind it. */
interface Skewed {
  readonly ahead: Sheet
  readonly behind: Sheet
  /** Does something at one of them, with its clock. */
  at<T>(sheet: Sheet, work: () => Promise<T>): Promise<T>
  /** Returns the time of the database's clock. */
  now(): Promise<string>
}

async function skewed(t: TestContext, { url, open }: SharedOffers): Promise<Skewed> {
  const database = new Database(parseStoreUrl(url))
  onEnd(t, () => database.close())
  const now = (): Promise<string> => readTime(database)
  const [ahead, behind] = [await open(), await open()]
  t.mock.timers.enable({ apis: ['Date'] })
  return {
    ahead,
    behind,
    now,
    at: async (sheet, work) => {
      t.mock.timers.setTime(Date.parse(await now()) + (sheet === ahead ? SKEW_MS : -SKEW_MS))
      return work()
    },
  }
}

async function storeOf(sheet: Sheet): Promise<SheetStore> {
  return (await sheet.current()).store
}

/** The lines of the log. */
async function lines(url: string): Promise<readonly JsonObject[]> {
  const database = new Database(parseStoreUrl(url))
  try {
    const rows = await database.all('SELECT line FROM "$provenance" ORDER BY seq')
    return rows.map(({ line }) => JSON.parse(String(line)) as JsonObject)
  } finally {
    await database.close()
  }
}

test('entries of servers with different clocks are ordered by the time of the database', async (t) => {
  const shared = await sharedOffers(t, offers(3, 3))
  const { ahead, behind, at, now } = await skewed(t, shared)
  const frames = await hearFrames(behind)
  const times = [await now()]
  for (const [round, sheet] of [ahead, behind, ahead, behind].entries()) {
    const records = [{ id: 'r0', title: `of round ${round}` }]
    await at(sheet, () => upsertRecords(sheet, { records, actor: ACTOR }))
    await at(sheet, () => runOffers(sheet, { recordIds: ['r0', 'r1'], force: true }))
    times.push(await now())
  }
  const entries = (await lines(shared.url)).slice(1).map((line) => String(line['at']))
  assert.equal(entries.length, 4 * 5)
  assert.deepEqual(entries, entries.toSorted())
  for (const [index, time] of entries.entries()) {
    const round = Math.floor(index / 5)
    assert.ok(time >= String(times[round]) && time <= String(times[round + 1]), `entry ${index}: ${time}`)
  }
  const told = (await frames()).map(({ ts }) => ts)
  assert.deepEqual([told, told.length > 0], [told.toSorted(), true])
  // The last is told after its run has ended.
  assert.ok(String(times[0]) <= String(told[0]) && String(told.at(-1)) <= (await now()), String(told))
  const { runs } = await listRuns(behind, { limit: null, cursor: null })
  const spans = runs.toReversed().flatMap(({ startedAt, endedAt }) => [startedAt, String(endedAt)])
  assert.deepEqual(spans, spans.toSorted())
})

test('a time in the log is never in the future for a server whose clock is behind', async (t) => {
  const shared = await sharedOffers(t, offers(1, 1))
  const { ahead, behind, at } = await skewed(t, shared)
  await at(ahead, () => upsertRecords(ahead, { records: [{ id: 'r0', title: 'new' }], actor: ACTOR }))
  const asOf = String((await lines(shared.url)).at(-1)?.['at'])
  const found = await at(behind, () => getRecordAsOf(behind, 'r0', { fields: null, asOf }))
  assert.equal((JSON.parse(String(found)) as JsonObject)['title'], 'new')
})

test('due times and ages follow the clock of the database', async (t) => {
  const { ahead, behind, at, now } = await skewed(t, await sharedOffers(t, offers(1, 1)))
  for (const sheet of [ahead, behind]) {
    const before = Date.parse(await now())
    const time = await at(sheet, () => sheet.now())
    assert.ok(before <= time && time <= Date.parse(await now()), String(time))
  }
})

test('runs of a server whose clock is behind are neither interrupted nor taken over while it lives', async (t) => {
  const shared = await sharedOffers(t, offers(2, 2))
  const { ahead, behind, at } = await skewed(t, shared)
  const hold = shared.api.hold('/rate/C0')
  const first = await at(behind, () => startMaterialize(behind, { ...ALL, targets: ['rate'], actor: ACTOR }))
  await hold.arrived(1)
  const second = await at(behind, () => startMaterialize(behind, { ...ALL, actor: 'human:bob' }))
  const store = await storeOf(ahead)
  const states = async (): Promise<unknown[]> =>
    (await store.runs({ before: null, limit: 10 })).map(({ state, total }) => [state, total])
  await at(ahead, async () => {
    await store.interruptRuns(null)
    await recoverOrphanedRuns(ahead, store)
    await listRuns(ahead, { limit: null, cursor: null })
  })
  assert.deepEqual(await states(), [
    ['running', 0],
    ['running', 2],
  ])
  hold.release()
  await Promise.all([first.done, second.done])
  assert.deepEqual(await states(), [
    ['finished', 4],
    ['finished', 2],
  ])
  assert.equal(shared.api.requests.length, 4)
})

test('a run that waits at a server whose clock is behind is not started by the server with the run lock', async (t) => {
  const shared = await sharedOffers(t, offers(1, 1))
  const { ahead, behind, at } = await skewed(t, shared)
  const store = await storeOf(ahead)
  const lock = await store.lockRun(0, new AbortController().signal)
  const { id, done } = await at(behind, () => startMaterialize(behind, { ...ALL, actor: ACTOR }))
  await at(ahead, () => finishOrphanedRuns(ahead, store, { lock, waiting: null }))
  assert.equal((await store.run(id))?.total, 0)
  lock.release()
  assert.equal((await done).materialized, 2)
})
