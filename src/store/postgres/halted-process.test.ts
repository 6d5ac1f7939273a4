import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { onEnd } from '../../../test/support/on-end.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { LockTimeoutError, RecordsError } from '../../errors/service-error.ts'
import { target, TestSheet, type OpenStore } from '../suite/support/test-sheet.ts'
import { Database } from './database/database.ts'
import { PostgresStore } from './postgres-store.ts'
import { breakRunLock, takeRunLock } from './database/run-lock.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { parseStoreUrl } from './database/store-url.ts'

const server = await startPostgres()

/** The database of a sheet without records. */
async function database(t: TestContext): Promise<Database> {
  const url = server.freshUrl()
  const open: OpenStore = (_directory, { contract, targets, ...options }) =>
    PostgresStore.open(url, {
      ...options,
      directory: null,
      definition: { contract, targets },
      queryLimits: PATIENT_LIMITS,
    })
  const properties = ['{name: n, logicalType: integer}', '{name: sum, logicalType: integer}']
  await TestSheet.make(t, open, { properties, targets: [target('sum', ['n'])] })
  const opened = new Database(parseStoreUrl(url))
  onEnd(t, () => opened.close())
  return opened
}

test('work that PostgreSQL aborted while its process was halted is repeated when the process continues', async (t) => {
  const db = await database(t)
  let attempts = 0
  const work = async (connection: Pick<Database, 'exec' | 'get'>): Promise<number> => {
    attempts += 1
    // The error that the resumed process reads first over TCP; over a Unix socket it only sees that the connection is
    // closed.
    const ended =
      "DO $$ BEGIN RAISE EXCEPTION 'terminating' USING ERRCODE = 'idle_in_transaction_session_timeout'; END $$"
    if (attempts === 1) await connection.exec(ended)
    return Number((await connection.get('SELECT 7 AS seven'))?.['seven'])
  }
  assert.equal(await db.changing(work), 7)
  assert.equal(attempts, 2)
  attempts = 0
  const written = await db.writingSheet(1000, async (connection) => ({
    value: await work(connection),
    last: [],
  }))
  assert.deepEqual([written, attempts], [7, 2])
})

test('a server that is halted in the middle of a write loses the sheet before the waiting ones time out', async (t) => {
  const db = await database(t)
  const other = new Database(db.location)
  onEnd(t, () => other.close())
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const nothing = { value: null, last: [] }
  const halted = db.writingSheet(10_000, async () => {
    begin()
    await goesOn
    return nothing
  })
  await begun
  await other.writingSheet(10_000, () => Promise.resolve(nothing))
  goOn()
  await assert.rejects(halted, RecordsError)
})

test('a run lock that was just acquired is not taken over', async (t) => {
  const db = await database(t)
  const lock = await takeRunLock(db, { timeoutMs: 1000 })
  onEnd(t, () => lock.release())
  await breakRunLock(db, 60_000)
  await assert.rejects(takeRunLock(db, { timeoutMs: 0 }), LockTimeoutError)
  assert.equal(lock.lost, false)
  await breakRunLock(db, 0)
  const next = await takeRunLock(db, { timeoutMs: 10_000 })
  onEnd(t, () => next.release())
  assert.equal(next.token, lock.token + 1)
})
