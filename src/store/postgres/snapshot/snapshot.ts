import type { SQLInputValue } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import type { StoreSnapshot } from '../../sheet-store.ts'
import {
  COPIED_TABLES,
  SqliteCopy,
  type CopiedSheet,
  type CopiedTable,
} from '../../sqlite/snapshot/sqlite-copy.ts'
import type { Connection, StoredRow, StoredValue } from '../database/connection.ts'
import { Database } from '../database/database.ts'
import { RECORD_JSON, recordJsonSource } from '../sql/record-json.ts'
import { quoted } from '../database/schema.ts'
import type { StoreLocation } from '../database/store-url.ts'

/** Rows read at once: as many at first, and after rows that took more than so many characters; else more. */
const FIRST_ROWS = 50
const MORE_ROWS = 1000
const TEXT_AT_ONCE = 4 << 20

/**
 * Copies a store as it is at this moment, all in one state, into what the store of a sheet's directory is: `sheet.db`,
 * `records.jsonl` and `provenance.jsonl`. Others go on meanwhile. Takes as long as the store is large, so it is for a thread
 * of its own. What was deleted is in no table of records of the copy; cursors of the original are none of the copy's.
 */
export async function copyStore(location: StoreLocation, directory: string): Promise<StoreSnapshot> {
  const database = new Database(location)
  try {
    const { copy, facts, snapshot } = await database.reading((db) => copyTo(db, directory))
    try {
      // What takes long without a word to the database comes when that keeps nothing for us any more.
      copy.finish(facts)
    } finally {
      copy.close()
    }
    return snapshot
  } finally {
    await database.close()
  }
}

/** A copy of everything, to be finished. */
interface FilledCopy {
  readonly copy: SqliteCopy
  readonly facts: CopiedSheet
  readonly snapshot: StoreSnapshot
}

async function copyTo(db: Connection, directory: string): Promise<FilledCopy> {
  // Before the first look at anything, so that the contract, and with it the columns, are those of the records.
  await db.exec('LOCK TABLE "$data" IN ACCESS SHARE MODE')
  const sheet = await db.get(
    'SELECT contract, records, last_record, last_run, last_proposal, proposal_changes, history_after, response_bytes, response_limit FROM "$sheet"',
  )
  const contract = parseStoredContract(String(sheet?.['contract']))
  const copy = new SqliteCopy(directory, contract)
  try {
    for (const table of COPIED_TABLES) await copyTable(db, copy, table)
    await copyRecords(db, copy, contract)
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

/** Columns that are JSON here and text there. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['inputs', 'required', 'non_empty'])

function inSqlite(column: string, value: StoredValue | undefined): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || value === undefined) return null
  if (JSON_COLUMNS.has(column)) return JSON.stringify(JSON.parse(String(value)))
  return value
}

/** Copies the records, in creation order. */
async function copyRecords(db: Connection, copy: SqliteCopy, { fields }: Contract): Promise<void> {
  const sql = `SELECT data."$seq", data."$version", ${RECORD_JSON} AS "$json" FROM "$data" AS data
    ${recordJsonSource(fields, 'data')} ORDER BY data."$seq"`
  await forEachRow(db, { sql, cursor: '$data' }, ({ $seq: key, $version: version, $json: json }) => {
    const record = JSON.parse(String(json)) as JsonObject
    copy.addRecord(record, { key: Number(key), version: Number(version) })
  })
}

/** Goes through what a statement answers, some rows at a time. */
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

/** About how many characters these rows take. */
function sizeOf(rows: readonly StoredRow[]): number {
  const size = (value: StoredValue | undefined): number => (typeof value === 'string' ? value.length : 8)
  return rows.reduce(
    (sum, row) => sum + Object.values(row).reduce<number>((all, value) => all + size(value), 0),
    0,
  )
}
