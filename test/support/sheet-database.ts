import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Contract, Field, LogicalType } from '../../src/contract/contract.ts'
import { dataTable, INTERNAL_TABLES, recordsView } from '../../src/store/sqlite/database/schema.ts'

/** Returns a field of a contract for a test. */
export function field(name: string, type: LogicalType): Field {
  return {
    name,
    type,
    primaryKey: name === 'id',
    required: name === 'id',
    unique: name === 'id',
    indexed: false,
    options: {},
    validValues: null,
    editableBy: null,
    declaredDerived: null,
    declaredInputs: null,
  }
}

/** Returns a contract with these fields and nothing else. */
export function contractOf(fields: readonly Field[]): Contract {
  return {
    document: {},
    fields,
    fieldByName: new Map(fields.map((each) => [each.name, each])),
    deletableBy: null,
    text: '',
  }
}

/** A sheet's database in its own directory, written to without the store. */
export interface SheetDatabase {
  readonly path: string
  readonly fields: readonly Field[]
  /** The connection that created it; it stays open, so that the database has a write-ahead log. */
  readonly writer: DatabaseSync
  /** Adds a record; values as its columns contain them, in the contract's order. */
  insert(...values: readonly SQLInputValue[]): void
  /** Returns a hash that changes with any byte of the database or of its write-ahead log. */
  hash(): string
  /** Closes the writer and deletes the directory. */
  remove(): void
}

/** Creates the database of a sheet with these fields, without records. */
export function createSheetDatabase(fields: readonly Field[]): SheetDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-sql-'))
  const path = join(directory, 'sheet.db')
  const contract = contractOf(fields)
  const writer = new DatabaseSync(path)
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0')
  writer.exec(`${INTERNAL_TABLES}; ${dataTable(contract)}; ${recordsView(contract)}`)
  const insert = writer.prepare(`INSERT INTO "$data" VALUES (NULL, 0${', ?'.repeat(fields.length)})`)
  return {
    path,
    fields,
    writer,
    insert: (...values) => void insert.run(...values),
    hash: () => {
      const hash = createHash('sha256')
      for (const file of [path, `${path}-wal`]) hash.update(existsSync(file) ? readFileSync(file) : 'absent')
      return hash.digest('hex')
    },
    remove: () => {
      writer.close()
      rmSync(directory, { recursive: true })
    },
  }
}
