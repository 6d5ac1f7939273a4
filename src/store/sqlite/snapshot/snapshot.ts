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
import { lineOf, WHOLE_LINE } from '../log/stored-line.ts'
import { writeCheckpoints } from './write-checkpoints.ts'

/** Lines that are read at once, so that no statement stays open over a large table. */
const LINES_AT_ONCE = 1000

/**
 * Copies a store in one state: `sheet.db`, and from it `records.jsonl` and `provenance.jsonl`, while other connections
 * continue. The time grows with the store, so run it on a separate thread. No page of the copy contains deleted records;
 * cursors of the original are not valid for the copy.
 */
export function copyStore(database: string, directory: string): StoreSnapshot {
  const paths = storePaths(directory)
  vacuumInto(database, paths.database)
  const db = Connection.forBuilding(paths.database)
  try {
    removeRecording(db)
    const sheet = db.get('SELECT contract, records FROM "$sheet"')
    const contract = parseStoredContract(String(sheet?.['contract']))
    const lastSeq = writeLog(db, paths.log)
    writeCheckpoints(db, paths.checkpoints)
    const source = writeRecords(db, paths.source, contract)
    db.run(
      'UPDATE "$sheet" SET cursor_key = ?, source_size = ?, source_mtime = ?, source_sha256 = ?, mirror_seq = 0, mirror_offset = 0, mirror_file = NULL',
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

/** Copies the used pages of the store in one state. */
function vacuumInto(database: string, path: string): void {
  rmSync(path, { force: true })
  const db = Connection.forInspection(database)
  try {
    db.run('VACUUM INTO ?', path)
  } finally {
    db.close()
  }
}

/** Removes the recording, which only an archive with one has, as a file of its own. */
function removeRecording(db: Connection): void {
  if (Number(db.get('SELECT count(*) AS lines FROM "$recorded"')?.['lines']) === 0) return
  db.exec('DELETE FROM "$recorded"; VACUUM')
}

/** Writes the log as `provenance.jsonl`; returns its last seq. */
function writeLog(db: Connection, path: string): number {
  let last = 0
  const file = new LineFile(path)
  try {
    const sql = `SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq > ? ORDER BY seq LIMIT ?`
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
  /** Time of the file's last change, in whole seconds, which every file system keeps. */
  readonly at: number
  readonly sha256: string
}

/** Writes the records as `records.jsonl`, in creation order. */
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

/**
 * Calls `each` for all rows of a statement, whose parameters are the last number and a limit; `each` returns the number of
 * its row.
 */
function forEachLine(db: Connection, sql: string, each: (row: StoredRow) => number): void {
  for (let after = 0; ;) {
    const rows = db.all(sql, after, LINES_AT_ONCE)
    if (rows.length === 0) return
    for (const row of rows) after = each(row)
  }
}
