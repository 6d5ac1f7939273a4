import { randomBytes } from 'node:crypto'
import { rmSync, utimesSync } from 'node:fs'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { LineFile } from '../../sheet-files/line-file.ts'
import type { StoreSnapshot } from '../../sheet-store.ts'
import { Connection, type StoredRow } from '../database/connection.ts'
import { storePaths } from '../definition/create-store.ts'
import { recordJsonExpression } from '../sql/json-columns.ts'
import { jsonBytes } from '../database/values.ts'
import { lineOf } from '../log/stored-line.ts'

/** Lines read at once, so that no statement stays open over a large table. */
const LINES_AT_ONCE = 1000

/**
 * Copies a store as it is at this moment, all in one state: `sheet.db`, and from it `records.jsonl` and
 * `provenance.jsonl`. Other connections go on meanwhile. Takes as long as the store is large, so it is for a thread of its
 * own. What was deleted is in no page of the copy; cursors of the original are none of the copy's.
 */
export function copyStore(database: string, directory: string): StoreSnapshot {
  const paths = storePaths(directory)
  vacuumInto(database, paths.database)
  const db = Connection.forBuilding(paths.database)
  try {
    const sheet = db.get('SELECT contract, records FROM "$sheet"')
    const contract = parseStoredContract(String(sheet?.['contract']))
    const lastSeq = writeLog(db, paths.log)
    const source = writeRecords(db, paths.source, contract)
    db.run(
      'UPDATE "$sheet" SET cursor_key = ?, source_size = ?, source_mtime = ?, source_sha256 = ?, mirror_seq = 0, mirror_offset = 0',
      randomBytes(32),
      source.size,
      source.at * 1000,
      source.sha256,
    )
    // As createStore leaves a new one: opened for the first time it needs no journal.
    db.exec('PRAGMA journal_mode=WAL')
    return { contractText: contract.text, records: Number(sheet?.['records']), lastSeq }
  } finally {
    db.close()
  }
}

/** The store's pages without those that are free, as one reader sees them. */
function vacuumInto(database: string, path: string): void {
  rmSync(path, { force: true })
  const db = Connection.forLooking(database)
  try {
    db.run('VACUUM INTO ?', path)
  } finally {
    db.close()
  }
}

/** Writes the log as `provenance.jsonl` has it; answers with its last seq. */
function writeLog(db: Connection, path: string): number {
  let last = 0
  const file = new LineFile(path)
  try {
    const sql = 'SELECT seq, line FROM "$provenance" WHERE seq > ? ORDER BY seq LIMIT ?'
    forEachLine(db, sql, (row) => {
      last = Number(row['seq'])
      file.add(Buffer.from(lineOf(row)))
      return last
    })
  } finally {
    file.end()
  }
  return last
}

interface WrittenRecords {
  readonly size: number
  /** When the file was last changed, in whole seconds, which every file system keeps. */
  readonly at: number
  readonly sha256: string
}

/** Writes the records as `records.jsonl` may have them, in creation order. */
function writeRecords(db: Connection, path: string, contract: Contract): WrittenRecords {
  const json = recordJsonExpression(contract.fields)
  const file = new LineFile(path)
  try {
    const sql = `SELECT "$seq" AS seq, CAST(${json} AS BLOB) AS line FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?`
    forEachLine(db, sql, ({ seq, line }) => {
      file.add(jsonBytes(line))
      return Number(seq)
    })
  } finally {
    file.end()
  }
  const at = Math.floor(Date.now() / 1000)
  utimesSync(path, at, at)
  return { size: file.size, at, sha256: file.sha256() }
}

/** Goes through what a statement answers to the last number seen and how many to read; `each` answers with its number. */
function forEachLine(db: Connection, sql: string, each: (row: StoredRow) => number): void {
  for (let after = 0; ;) {
    const rows = db.all(sql, after, LINES_AT_ONCE)
    if (rows.length === 0) return
    for (const row of rows) after = each(row)
  }
}
