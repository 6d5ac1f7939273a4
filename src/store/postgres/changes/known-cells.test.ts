import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../../test/support/contract-with.ts'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { PATIENT_LIMITS } from '../../suite/support/patient-limits.ts'
import { target } from '../../suite/support/test-sheet.ts'
import type { ClientConnection } from '../database/connection.ts'
import { Database } from '../database/database.ts'
import { parseStoreUrl } from '../database/store-url.ts'
import { loadTargets } from '../definition/targets.ts'
import { PostgresStore } from '../postgres-store.ts'
import { KnownCells } from './known-cells.ts'

const [SMALL, LARGE] = [20, 20_000]
const WANTED = 256

/** Returns the number of rows of cells that the transaction has read so far. */
async function rowsRead(db: ClientConnection): Promise<number> {
  const row = await db.get(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS read FROM pg_stat_xact_user_tables
     WHERE relname IN ('$cell', '$todo') AND schemaname = current_schema()`,
  )
  return Number(row?.['read'])
}

/** Adds a computed and a pending cell of a target for each of these records. */
async function addCells(db: ClientConnection, id: number, from: number, to: number): Promise<void> {
  for (const sql of [
    `INSERT INTO "$cell" (target, record, hash, mark) SELECT $1::integer, record, '', 1 FROM generate_series($2::bigint, $3) AS record`,
    `INSERT INTO "$todo" (target, record, state, mark) SELECT $1::integer, record, 1, 1 FROM generate_series($2::bigint, $3) AS record`,
  ]) {
    await db.run(sql, id, from, to)
  }
}

test('the states of some cells are read without the other rows, also after the tables have grown', async (t) => {
  const url = (await startPostgres()).freshUrl()
  const store = await PostgresStore.open(url, {
    definition: {
      contract: contractWith('{name: a, logicalType: string}', '{name: one, logicalType: string}'),
      targets: [target('one', ['a'])],
    },
    directory: null,
    actor: 'human:ann',
    lockTimeoutMs: 1000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  const database = new Database(parseStoreUrl(url))
  t.after(() => Promise.all([store.close(), database.close()]))
  await database.writing(1000, async (db) => {
    const targets = await loadTargets(db)
    const [one] = targets
    assert.ok(one)
    const load = async (from: number): Promise<KnownCells> => {
      const cells = new KnownCells(db, targets)
      await cells.load(Array.from({ length: WANTED }, (_, index) => from + index))
      return cells
    }
    await addCells(db, one.id, 1, SMALL)
    await db.exec('ANALYZE "$cell", "$todo"')
    // PostgreSQL keeps the plan of a prepared statement after some executions.
    for (let times = 0; times < 8; times += 1) await load(1)
    await addCells(db, one.id, SMALL + 1, LARGE)
    const before = await rowsRead(db)
    const cells = await load(LARGE / 2)
    const read = (await rowsRead(db)) - before
    assert.deepEqual(cells.facts(one.id, LARGE / 2).todo, { state: 1, mark: 1, blocked: false })
    assert.ok(read <= 4 * WANTED, `${read} rows for ${WANTED} cells`)
  })
})
