import type { SQLInputValue } from 'node:sqlite'
import type { JsonObject } from '../../../contract/json/json.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { FIELD_CHANGES, keptColumns } from '../../fields/stored-changes.ts'
import type { StoreSnapshot } from '../../sheet-store.ts'
import {
  COPIED_TABLES,
  SqliteCopy,
  type CopiedSheet,
  type CopiedTable,
} from '../../sqlite/snapshot/sqlite-copy.ts'
import type { Connection, StoredRow, StoredValue } from '../database/connection.ts'
import { Database } from '../database/database.ts'
import { RECORD_JSON, recordJsonSource } from '../json/record-json.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from '../database/columns.ts'
import type { StoreLocation } from '../database/store-url.ts'

/**
 * The rows that are read at once: `FIRST_ROWS` at first and after rows of more than `TEXT_AT_ONCE` characters; otherwise
 * `MORE_ROWS`.
 */
const FIRST_ROWS = 50
const MORE_ROWS = 1000
const TEXT_AT_ONCE = 4 << 20

/**
 * Copies a store in one state to a directory, as `sheet.db`, `records.jsonl` and `provenance.jsonl`, while others continue.
 * The time grows with the store, so run it on a separate thread. No table of the copy contains deleted records; cursors of
 * the original are not valid for the copy.
 */
export async function copyStore(location: StoreLocation, directory: string): Promise<StoreSnapshot> {
  const database = new Database(location)
  try {
    const { copy, facts, snapshot } = await database.reading((db) => copyTo(db, directory))
    try {
      // Long work without queries follows when the connection no longer holds locks.
      copy.finish(facts)
    } finally {
      copy.close()
    }
    return snapshot
  } finally {
    await database.close()
  }
}

/** A copy of all rows, to be finished. */
interface FilledCopy {
  readonly copy: SqliteCopy
  readonly facts: CopiedSheet
  readonly snapshot: StoreSnapshot
}

async function copyTo(db: Connection, directory: string): Promise<FilledCopy> {
  // Before the first read, so that the contract, and thereby the columns, are those of the records.
  await db.exec('LOCK TABLE "$data" IN ACCESS SHARE MODE')
  const sheet = await db.get(
    'SELECT contract, records, last_record, last_run, last_proposal, proposal_changes, history_after, response_bytes, response_limit FROM "$sheet"',
  )
  const contract = parseStoredContract(String(sheet?.['contract']))
  const kept = keptColumns(await db.query(FIELD_CHANGES))
  const copy = new SqliteCopy(directory, { contract, kept })
  try {
    for (const table of COPIED_TABLES) await copyTable(db, copy, table)
    await copyRecords(db, copy, [...contract.fields, ...kept])
    const facts = sheetFacts(sheet ?? {})
    const { records } = facts
    return { copy, facts, snapshot: { contractText: contract.text, records, lastSeq: copy.lastSeq } }
  } catch (error) {
    copy.close()
    throw error
  }
}

function sheetFacts(sheet: StoredRow): CopiedSheet {
  return {
    records: Number(sheet['records']),
    last_record: Number(sheet['last_record']),
    last_run: Number(sheet['last_run']),
    last_proposal: Number(sheet['last_proposal']),
    proposal_changes: Number(sheet['proposal_changes']),
    history_after: Number(sheet['history_after']),
    response_bytes: Number(sheet['response_bytes']),
    response_limit: sheet['response_limit'] === null ? null : Number(sheet['response_limit']),
  }
}

async function copyTable(db: Connection, copy: SqliteCopy, table: CopiedTable): Promise<void> {
  const { columns, key } = copy.shape(table)
  const sql = `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(table)} ORDER BY ${key.map(quoted).join(', ')}`
  await forEachRow(db, { sql, cursor: table }, (row) => {
    copy.add(
      table,
      columns.map((column) => inSqlite(column, row[column])),
    )
  })
}

/** Columns that are JSON in PostgreSQL and text in SQLite. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['inputs', 'required', 'non_empty', 'reads'])

function inSqlite(column: string, value: StoredValue | undefined): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || value === undefined) return null
  if (JSON_COLUMNS.has(column)) return JSON.stringify(JSON.parse(String(value)))
  return value
}

/** Copies the records, in creation order; `fields` includes the columns that keep earlier values. */
async function copyRecords(db: Connection, copy: SqliteCopy, fields: readonly TypedField[]): Promise<void> {
  const sql = `SELECT data."$seq", data."$version", ${RECORD_JSON} AS "$json" FROM "$data" AS data
    ${recordJsonSource(fields, 'data')} ORDER BY data."$seq"`
  await forEachRow(db, { sql, cursor: '$data' }, ({ $seq: key, $version: version, $json: json }) => {
    const record = JSON.parse(String(json)) as JsonObject
    copy.addRecord(record, { key: Number(key), version: Number(version) })
  })
}

/** Calls a function for each row of a statement, and reads some rows at a time. */
async function forEachRow(
  db: Connection,
  { sql, cursor }: { readonly sql: string; readonly cursor: string },
  each: (row: StoredRow) => void,
): Promise<void> {
  await db.exec(`DECLARE ${quoted(cursor)} NO SCROLL CURSOR FOR ${sql}`)
  for (let count = FIRST_ROWS; ;) {
    const rows = await db.all(`FETCH FORWARD ${count} FROM ${quoted(cursor)}`)
    if (rows.length === 0) break
    rows.forEach(each)
    count = sizeOf(rows) > TEXT_AT_ONCE ? FIRST_ROWS : MORE_ROWS
  }
  await db.exec(`CLOSE ${quoted(cursor)}`)
}

/** Returns the approximate number of characters of these rows. */
function sizeOf(rows: readonly StoredRow[]): number {
  const size = (value: StoredValue | undefined): number => (typeof value === 'string' ? value.length : 8)
  return rows.reduce(
    (sum, row) => sum + Object.values(row).reduce<number>((all, value) => all + size(value), 0),
    0,
  )
}
