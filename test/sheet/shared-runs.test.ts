import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { startMaterialize, type MaterializeResult } from '../../src/sheet/runs/materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { LOCK_CLASS } from '../../src/store/postgres/database/run-lock.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import type { CallToClaim, RunTasks, StreakNote, TakenTask } from '../../src/store/run-tasks.ts'
import type { StoredRun } from '../../src/store/stored-run.ts'
import { startLocalApi, type LocalApi } from '../support/local-api.ts'
import { startPostgres } from '../support/postgres.ts'
import {
  ACTOR,
  ALL,
  assertAllOnce,
  logged,
  offers,
  runOffers,
  sharedOffers,
  startWorkers,
  watchedEnd,
  type SharedOffers,
} from '../support/shared-offers.ts'

const postgres = await startPostgres()

/** Has PostgreSQL end the connection that first does something to a table. */
async function endConnectionOnce(url: string, event: string): Promise<void> {
  await change(
    url,
    `CREATE SEQUENCE test_once;
    CREATE FUNCTION test_end_once() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('test_once') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER test_once BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION test_end_once()`,
  )
}

async function change(url: string, sql: string): Promise<void> {
  const database = new Database(parseStoreUrl(url))
  await database.exec(sql)
  await database.close()
}

/** Returns the calls and the dollars that the bounds of a sheet's only run have reserved. */
async function begunOf(url: string): Promise<Record<string, unknown> | undefined> {
  const database = new Database(parseStoreUrl(url))
  try {
    return await database.get('SELECT begun_calls::integer, begun_cost FROM "$run"')
  } finally {
    await database.close()
  }
}

/** A worker of which nothing is there but its word. */
const OURS = randomUUID()

/** The first four tasks, once there are any. */
async function takeSome(tasks: RunTasks): Promise<readonly TakenTask[]> {
  for (;;) {
    const taken = await tasks.take(OURS, 4, [])
    if (taken.length > 0) return taken
  }
}

function callsOf(api: LocalApi): number {
  return Object.values(api.calls()).reduce((sum, count) => sum + count, 0)
}

async function lastRun(sheet: Sheet): Promise<StoredRun> {
  const [run] = await (await sheet.current()).store.runs({ before: null, limit: 1 })
  assert.ok(run !== undefined)
  return run
}

test('workers compute a run together: each cell once, equal requests with one call', async (t) => {
  const sheet = await sharedOffers(t, offers(600, 40))
  const server = await sheet.open()
  await startWorkers(t, sheet, 3)
  const { materialized, skipped, failures } = await runOffers(server)
  assert.deepEqual([materialized, skipped, failures], [1200, 0, []])
  await assertAllOnce(server, 1200)
  const calls = sheet.api.calls()
  assert.deepEqual(
    Object.entries(calls).filter(([, count]) => count > 1),
    [],
  )
  assert.equal(callsOf(sheet.api), 640)
  const { state, total, done, calls: counted } = await lastRun(server)
  assert.deepEqual([state, total, done, counted], ['finished', 1200, 1200, 640])
  const again = await runOffers(server)
  assert.deepEqual([again.materialized, again.skipped], [0, 1200])
})

test('a run whose connection is lost while it is cut into tasks leaves out none of them', async (t) => {
  const sheet = await sharedOffers(t, offers(60, 6))
  const server = await sheet.open()
  await endConnectionOnce(sheet.url, 'UPDATE OF levels ON "$run"')
  const { materialized, skipped } = await runOffers(server)
  assert.deepEqual([materialized, skipped], [120, 0])
  await assertAllOnce(server, 120)
})

test('tasks of independent derivations alternate', async (t) => {
  const sheet = await sharedOffers(t, offers(300, 300), '', 'currency')
  const [server, other] = [await sheet.open(), await sheet.open()]
  const { tasks } = (await other.current()).store
  assert.ok(tasks !== undefined)
  // The server computes nothing itself while there is a worker.
  await tasks.present(OURS, { name: 'ours', local: false })
  const running = runOffers(server)
  const taken = await takeSome(tasks)
  assert.deepEqual(taken.map(({ derivation }) => derivation).toSorted(), [
    'rate.yaml',
    'rate.yaml',
    'total.yaml',
    'total.yaml',
  ])
  await tasks.leave(OURS)
  const { materialized } = await running
  assert.equal(materialized, 600)
})

test('without workers the server computes a run itself', async (t) => {
  const sheet = await sharedOffers(t, offers(50, 5))
  const server = await sheet.open()
  const { materialized, skipped } = await runOffers(server)
  assert.deepEqual([materialized, skipped], [100, 0])
  await assertAllOnce(server, 100)
})

test('one process makes as many calls at a time as the high limits of two hosts allow', async (t) => {
  const other = await startLocalApi(t)
  other.answer('*', { json: { value: 1 } })
  const limits = "hosts:\n  '*': { concurrency: 256 }\n"
  const sheet = await sharedOffers(t, offers(300, 300), limits, 'currency', other.url)
  const server = await sheet.open()
  const held = [sheet.api, other].map((api) => api.hold('/*'))
  const running = runOffers(server)
  for (const hold of held) await hold.arrived(256)
  for (const hold of held) hold.release()
  const { materialized } = await running
  assert.equal(materialized, 600)
  assert.deepEqual([sheet.api.peak, other.peak], [256, 256])
})

test('cells with a failed input are not computed, whichever worker it failed at', async (t) => {
  const sheet = await sharedOffers(t, offers(60, 6))
  sheet.api.answer('/rate/C2', { status: 500, json: {} })
  const server = await sheet.open()
  await startWorkers(t, sheet, 2)
  const { materialized, skipped, failures } = await runOffers(server)
  assert.deepEqual([materialized, skipped, failures.length], [100, 10, 10])
  assert.equal(sheet.api.calls()['GET /rate/C2'], 1)
  assert.deepEqual(new Set(failures.map(({ field }) => field)), new Set(['rate']))
})

test('with force each cell is recomputed once, and equal requests are still one call', async (t) => {
  const sheet = await sharedOffers(t, offers(200, 10))
  const server = await sheet.open()
  await runOffers(server)
  const before = callsOf(sheet.api)
  await startWorkers(t, sheet, 2)
  const { materialized } = await runOffers(server, { force: true })
  assert.equal(materialized, 400)
  assert.equal(callsOf(sheet.api) - before, 210)
  assert.deepEqual(new Set((await logged(server)).values()), new Set([2]))
})

test('the bounds of a run apply to all workers together, in the order of its records', async (t) => {
  const sheet = await sharedOffers(t, offers(100, 100))
  const server = await sheet.open()
  await startWorkers(t, sheet, 3)
  const { materialized, skipped } = await runOffers(server, { targets: ['rate'], maxCalls: 37 })
  assert.deepEqual([materialized, skipped], [37, 63])
  assert.equal(callsOf(sheet.api), 37)
  const cells = [...(await logged(server)).keys()]
  assert.deepEqual(new Set(cells), new Set(offers(37, 100).map(({ id }) => `${String(id)}.rate`)))
})

test('calls that a stopped worker had not begun do not count: others make them within the bounds', async (t) => {
  const sheet = await sharedOffers(t, offers(40, 40), "hosts: {'*': {concurrency: 2}}")
  const server = await sheet.open()
  const [first] = await startWorkers(t, sheet, 1)
  const hold = sheet.api.hold('*')
  const running = runOffers(server, { targets: ['rate'], maxCalls: 20 })
  await hold.arrived(2)
  await first?.stop(0)
  hold.release()
  await startWorkers(t, sheet, 1)
  // The two that were sent are made once more, and count twice.
  assert.equal((await running).materialized, 18)
  assert.equal(callsOf(sheet.api), 20)
  assert.equal((await lastRun(server)).calls, 20)
})

test('calls that a lost worker may have made count as made, whatever it says of them later', async (t) => {
  const sheet = await sharedOffers(t, offers(6, 6))
  const server = await sheet.open()
  const hold = sheet.api.hold('*')
  const { tasks } = (await server.current()).store
  assert.ok(tasks !== undefined)
  await tasks.present(OURS, { name: 'ours', local: false })
  const running = runOffers(server, { targets: ['rate'], maxCalls: 3 })
  const [task] = await takeSome(tasks)
  assert.ok(task !== undefined)
  const wishes = ['a', 'b'].map((digit) => ({ hash: `sha256:${digit.repeat(64)}`, price: 0.5 }))
  assert.deepEqual([...(await tasks.claimCalls(task, wishes)).values()], ['mine', 'mine'])
  await change(sheet.url, `UPDATE "$worker" SET seen_at = now() - interval '1 minute'`)
  // The server has taken the task.
  await hold.arrived(1)
  const [settled, released] = wishes as [CallToClaim, CallToClaim]
  await tasks.settleCall(task, settled, 0)
  await tasks.releaseCalls(task, [released], false)
  assert.deepEqual([...(await tasks.claimCalls(task, [settled])).values()], ['other'])
  hold.release()
  assert.deepEqual([(await running).materialized, callsOf(sheet.api)], [1, 1])
  const { calls, totalCost } = await lastRun(server)
  assert.deepEqual([calls, totalCost], [3, 1])
  assert.deepEqual(await begunOf(sheet.url), { begun_calls: 3, begun_cost: 1 })
})

test('what a run has spent is known to the server that accepted it, whichever finished it', async (t) => {
  const sheet = await sharedOffers(t, offers(3, 3), "hosts: {'*': {concurrency: 1}}")
  const server = await sheet.open()
  const hold = sheet.api.hold('*')
  const { id, done } = await startMaterialize(server, { ...ALL, targets: ['rate'], actor: ACTOR })
  const active = server.runs.get(id)
  await hold.arrived(1)
  await loseLock(sheet.url)
  // The call that was under way is made once more.
  await hold.arrived(2)
  hold.release()
  assert.equal((await done).materialized, 3)
  const { calls } = await lastRun(server)
  assert.deepEqual([calls, callsOf(sheet.api), active?.feed.progress.calls], [4, 4, 4])
})

test('failures in a row at a host are counted over all processes, and stop the run at all workers', async (t) => {
  const sheet = await sharedOffers(t, offers(300, 300), "hosts: {'*': {concurrency: 1}}")
  const [server, other] = [await sheet.open(), await sheet.open()]
  const [one, two] = [(await server.current()).store.tasks, (await other.current()).store.tasks]
  assert.ok(one !== undefined && two !== undefined)
  const failed = (failures: number, succeeded = false): StreakNote[] => [{ host: 'h', failures, succeeded }]
  assert.deepEqual(await one.noteStreaks('1', failed(2)), new Map([['h', 2]]))
  assert.deepEqual(await two.noteStreaks('1', failed(3)), new Map([['h', 5]]))
  assert.deepEqual(await one.noteStreaks('1', failed(1, true)), new Map([['h', 1]]))
  assert.deepEqual(await two.noteStreaks('2', failed(4)), new Map([['h', 4]]))
  assert.deepEqual(await two.noteStreaks('1', failed(0, true)), new Map())
  assert.deepEqual(await one.noteStreaks('1', failed(1)), new Map([['h', 1]]))
  await one.end('1')
  assert.deepEqual(await one.noteStreaks('1', failed(1)), new Map([['h', 1]]))
  await one.end('1')

  await startWorkers(t, sheet, 3)
  sheet.api.answer('*', { text: 'no such thing', status: 404 })
  const why = /^\d+ calls in a row failed at 127\.0\.0\.1:\d+, .* -> 404: no such thing; /
  await assert.rejects(runOffers(server, { targets: ['rate'], stopAfterFailures: 20 }), { message: why })
  const run = await lastRun(server)
  assert.ok(run.failed >= 20 && run.failed < 300, String(run.failed))
  assert.deepEqual([run.state, run.skipped], ['failed', 300 - run.failed])
})

test('a stopped worker loses no stored result, and its cells are computed by others', async (t) => {
  const sheet = await sharedOffers(t, offers(300, 300))
  const server = await sheet.open()
  const [first] = await startWorkers(t, sheet, 1)
  const hold = sheet.api.hold('/rate/C20*')
  const running = runOffers(server, { targets: ['rate'] })
  await hold.arrived(1)
  await startWorkers(t, sheet, 1)
  await first?.stop(0)
  hold.release()
  const { materialized, failures } = await running
  assert.deepEqual([materialized, failures], [300, []])
  await assertAllOnce(server, 300)
})

test('a run that is cancelled at one server stops at all workers', async (t) => {
  const sheet = await sharedOffers(t, offers(300, 300))
  const [server, other] = [await sheet.open(), await sheet.open()]
  await startWorkers(t, sheet, 2)
  const hold = sheet.api.hold('/rate/C2*')
  const running = runOffers(server, { targets: ['rate'] })
  running.catch(() => undefined)
  await hold.arrived(2)
  const { id } = await lastRun(other)
  const cancelled = await cancelRun(other, id, 'human:bob')
  assert.deepEqual([cancelled.state, cancelled.cancelledBy], ['cancelled', 'human:bob'])
  await assert.rejects(running, /was cancelled by "human:bob"/)
  hold.release()
  const asked = sheet.api.requests.length
  const { materialized } = await runOffers(server, { targets: ['rate'] })
  assert.equal(materialized, 300 - cancelled.materialized)
  assert.ok(sheet.api.requests.length > asked)
})

/** A run of 240 cells that a worker computes for a server, some of whose calls are held. */
async function heldRun(
  t: TestContext,
): Promise<
  Pick<SharedOffers, 'url'> & { server: Sheet; running: Promise<MaterializeResult>; release(): void }
> {
  const sheet = await sharedOffers(t, offers(120, 120))
  const server = await sheet.open()
  await startWorkers(t, sheet, 1)
  const hold = sheet.api.hold('/rate/C11*')
  const running = runOffers(server)
  await hold.arrived(1)
  return { url: sheet.url, server, running, release: () => hold.release() }
}

/** The processes of PostgreSQL that have the run lock of a sheet, or wait for it. */
async function lockers(url: string, state: 'granted' | 'NOT granted'): Promise<readonly number[]> {
  const database = new Database(parseStoreUrl(url))
  try {
    const rows = await database.all(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND ${state} AND classid = ${LOCK_CLASS}
         AND objid = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
      database.location.schema,
    )
    return rows.map(({ pid }) => Number(pid))
  } finally {
    await database.close()
  }
}

/** Has PostgreSQL end the connection that has the run lock of a sheet. */
async function loseLock(url: string): Promise<number> {
  const [holder = 0] = await lockers(url, 'granted')
  const database = new Database(parseStoreUrl(url))
  await database.run('SELECT pg_terminate_backend($1)', holder)
  await database.close()
  return holder
}

/** Asserts, for as long as the first run of a sheet is seen to eight times, that the second does not begin. */
async function assertSeenToAlone(t: TestContext, url: string): Promise<void> {
  const database = new Database(parseStoreUrl(url))
  try {
    for (const beats = new Set<unknown>(); beats.size < 8;) {
      t.signal.throwIfAborted()
      const row = await database.get(
        `SELECT beat_at::text, (SELECT count(*) FROM "$task" WHERE run = 2) AS others FROM "$run" WHERE id = 1`,
      )
      assert.equal(Number(row?.['others']), 0)
      beats.add(row?.['beat_at'])
    }
  } finally {
    await database.close()
  }
}

test('a run that has lost its lock continues with the lock again', async (t) => {
  const { url, server, running, release } = await heldRun(t)
  const first = await loseLock(url)
  for (let now = [first]; now.length === 0 || now.includes(first);) {
    t.signal.throwIfAborted()
    now = [...(await lockers(url, 'granted'))]
  }
  release()
  const { materialized, failures } = await running
  assert.deepEqual([materialized, failures], [240, []])
  await assertAllOnce(server, 240)
})

test('a run that has lost its lock to the next run of its server continues first', async (t) => {
  const { url, server, running, release } = await heldRun(t)
  const next = runOffers(server)
  while ((await lockers(url, 'NOT granted')).length === 0) t.signal.throwIfAborted()
  await loseLock(url)
  while ((await lockers(url, 'NOT granted')).length > 0) t.signal.throwIfAborted()
  await assertSeenToAlone(t, url)
  release()
  const results = await Promise.all([running, next])
  assert.deepEqual(
    results.map(({ materialized, skipped }) => [materialized, skipped]),
    [
      [240, 0],
      [0, 240],
    ],
  )
  await assertAllOnce(server, 240)
})

test('a run continues when its server stops', async (t) => {
  const sheet = await sharedOffers(t, offers(120, 120))
  const server = await sheet.open({ handOverRuns: true })
  await startWorkers(t, sheet, 1)
  const hold = sheet.api.hold('/rate/C11*')
  const running = runOffers(server)
  running.catch(() => undefined)
  await hold.arrived(1)
  await server.close()
  await assert.rejects(running, /run 1 continues at another server or worker/)
  hold.release()
  const other = await sheet.open()
  const ended = await watchedEnd(t, other, '1')
  assert.deepEqual([ended.state, ended.materialized, ended.skipped], ['finished', 240, 0])
  await assertAllOnce(other, 240)
})

test('a run continues after the database was unavailable, and a waiting client gets its result', async (t) => {
  const { server, running, release } = await heldRun(t)
  await postgres.stop('fast')
  release()
  await postgres.start()
  const { materialized, failures } = await running
  assert.deepEqual([materialized, failures], [240, []])
  await assertAllOnce(server, 240)
})
