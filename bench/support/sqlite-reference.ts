import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { wholeRecord } from './bench-sheet.ts'
import { linesOf } from './lines-of.ts'

/** The columns of a record, each with a value of its type. */
const COLUMNS = Object.entries(wholeRecord(1))

/** Creates a database as durable as a sheet's, with a table `bench` for whole records, whose only constraint is a unique id. */
export function openReference(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  const columns = COLUMNS.map(([name, value]) => `${name} ${typeof value === 'number' ? 'REAL' : 'TEXT'}`)
  db.exec(
    `PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE bench (${columns.join(', ')}, UNIQUE (id))`,
  )
  return db
}

/** Inserts rows in one transaction. */
export function insertRows(db: DatabaseSync, rows: Iterable<SQLInputValue[]>): void {
  const insert = db.prepare(`INSERT INTO bench VALUES (${COLUMNS.map(() => '?').join(', ')})`)
  db.exec('BEGIN')
  for (const row of rows) insert.run(...row)
  db.exec('COMMIT')
}

/** Returns a record as a row of the table. */
export function sqlRow(record: Record<string, unknown>): SQLInputValue[] {
  return COLUMNS.map(([name]) => sqlValue(record[name]))
}

/** Converts a value of a record for SQLite. */
export function sqlValue(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' ? JSON.stringify(value) : (value as string | number)
}

/** Inserts the records of a file with one on each line, in one transaction. */
export function insertFile(db: DatabaseSync, path: string): void {
  insertRows(
    db,
    linesOf(path).map((line) => sqlRow(JSON.parse(line) as Record<string, unknown>)),
  )
}
