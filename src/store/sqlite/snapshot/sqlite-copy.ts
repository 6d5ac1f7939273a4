import { randomBytes } from 'node:crypto'
import { rmSync, utimesSync } from 'node:fs'
import type { SQLInputValue } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { LineFile } from '../../sheet-files/line-file.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import type { RecordKey } from '../../cell-work.ts'
import { Connection } from '../database/connection.ts'
import { storePaths, type StorePaths } from '../definition/create-store.ts'
import { reading as onFiles } from '../database/reading.ts'
import {
  dataTable,
  fieldIndexes,
  INTERNAL_TABLES,
  quoted,
  recordsView,
  SCHEMA_VERSION,
} from '../database/schema.ts'
import { toColumn } from '../database/values.ts'
import { writeCheckpoints } from './write-checkpoints.ts'

/** Tables of a store that are copied unchanged, column by column. */
export const COPIED_TABLES = [
  '$target',
  '$cell',
  '$todo',
  '$failure',
  '$cache',
  '$usage',
  '$response',
  '$provenance',
  '$deleted',
  '$deleted_block',
  '$import',
  '$run',
  '$run_failure',
  '$run_body',
  '$derivation',
  '$field_change',
  '$review',
  '$proposal',
  '$proposal_record',
  '$definition_change',
  '$definition_file',
  '$definition_text',
  '$view',
  '$writer',
  '$written',
  '$written_field',
  '$chart',
  '$log_node',
  '$checkpoint',
] as const

export type CopiedTable = (typeof COPIED_TABLES)[number]

/** Columns of a table, in its order, and the columns by which it is sorted. */
export interface TableShape {
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

/** The facts of a store that are not in its other tables, by the names of SQLite's `$sheet`. */
export interface CopiedSheet {
  readonly records: number
  readonly last_record: number
  readonly last_run: number
  readonly last_proposal: number
  readonly proposal_changes: number
  readonly history_after: number
  readonly response_bytes: number
  readonly response_limit: number | null
}

/**
 * Builds the store of a sheet's directory, `sheet.db`, `records.jsonl` and `provenance.jsonl`, from the tables of another
 * engine: rows are added table by table, each sorted by its key, and `finish` completes a store that can be opened. Blocks
 * its thread. All methods throw RecordsError where a file cannot be written.
 */
export class SqliteCopy {
  readonly #contract: Contract
  /** The columns that keep earlier values. */
  readonly #kept: readonly KeptColumn[]
  readonly #paths: StorePaths
  readonly #files: CopyFiles
  readonly #insertRecord: string
  /** Indexes of `seq` and `line` among the columns of the log. */
  readonly #logColumns: readonly [number, number]
  #lastSeq = 0

  /** Replaces existing files of the directory. */
  constructor(
    directory: string,
    { contract, kept }: { readonly contract: Contract; readonly kept: readonly KeptColumn[] },
  ) {
    this.#contract = contract
    this.#kept = kept
    this.#paths = storePaths(directory)
    const names = [...contract.fields, ...kept].map(({ name }) => quoted(name))
    this.#insertRecord = `INSERT INTO "$data" ("$seq", "$version", ${names.join(', ')}) VALUES (?, ?${', ?'.repeat(names.length)})`
    this.#files = onFiles(() => openFiles(this.#paths, dataTable(contract, kept), recordsView(contract)))
    const { columns } = this.shape('$provenance')
    this.#logColumns = [columns.indexOf('seq'), columns.indexOf('line')]
  }

  /** The `seq` of the last line of the log that was added; 0 for none. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  shape(table: CopiedTable): TableShape {
    const columns = onFiles(() => this.#files.db.all('SELECT name, pk FROM pragma_table_info(?)', table))
    const key = columns.filter(({ pk }) => pk !== 0).toSorted((a, b) => Number(a['pk']) - Number(b['pk']))
    return { columns: columns.map(({ name }) => String(name)), key: key.map(({ name }) => String(name)) }
  }

  /** Adds a row of a table, its values in the order of {@link shape}. */
  add(table: CopiedTable, values: readonly SQLInputValue[]): void {
    const { db, log } = this.#files
    onFiles(() => {
      db.run(`INSERT INTO ${quoted(table)} VALUES (?${', ?'.repeat(values.length - 1)})`, ...values)
      if (table !== '$provenance') return
      const [seq, line] = this.#logColumns
      this.#lastSeq = Number(values[seq])
      log.add(Buffer.from(values[line] as string))
    })
  }

  /** Adds a record, whose members are its fields and then the columns that keep earlier values. */
  addRecord(record: JsonObject, { key, version }: { key: RecordKey; version: number }): void {
    const { db, records } = this.#files
    onFiles(() => {
      const values = [...this.#contract.fields, ...this.#kept].map(({ name }) =>
        toColumn(record[name] ?? null),
      )
      db.run(this.#insertRecord, key, version, ...values)
      const fields = Object.entries(record).slice(0, this.#contract.fields.length)
      records.add(Buffer.from(JSON.stringify(this.#kept.length === 0 ? record : Object.fromEntries(fields))))
    })
  }

  /** Completes the store, with a new cursor key. */
  finish(sheet: CopiedSheet): void {
    onFiles(() => {
      this.#files.log.end()
      writeCheckpoints(this.#files.db, this.#paths.checkpoints)
      this.#finishDatabase({ ...sheet, ...this.#finishRecords() })
    })
  }

  /** Closes the files, whether it was finished or not. */
  close(): void {
    const { db, log, records } = this.#files
    onFiles(() => {
      log.close()
      records.close()
      db.close()
    })
  }

  /** Completes `records.jsonl`; returns the facts of `$sheet` about the imported file, which it counts as. */
  #finishRecords(): Facts {
    const { records } = this.#files
    records.end()
    // Whole seconds, which every file system keeps.
    const at = Math.floor(Date.now() / 1000)
    utimesSync(this.#paths.source, at, at)
    return { source_size: records.size, source_mtime: at * 1000, source_sha256: records.sha256() }
  }

  #finishDatabase(sheet: Facts): void {
    const { db } = this.#files
    for (const { sql } of fieldIndexes(this.#contract)) db.exec(sql)
    const facts: Facts = {
      one: 1,
      schema_version: SCHEMA_VERSION,
      contract: this.#contract.text,
      cursor_key: randomBytes(32),
      ...sheet,
    }
    const names = Object.keys(facts)
    db.run(
      `INSERT INTO "$sheet" (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      ...Object.values(facts),
    )
    db.exec('COMMIT')
    // As createStore leaves a new one: opened for the first time it needs no journal.
    db.exec('PRAGMA journal_mode=WAL')
  }
}

/** Columns of `$sheet`. */
type Facts = Readonly<Record<string, SQLInputValue>>

interface CopyFiles {
  readonly db: Connection
  readonly log: LineFile
  readonly records: LineFile
}

function openFiles(paths: StorePaths, ...schema: readonly string[]): CopyFiles {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${paths.database}${suffix}`, { force: true })
  const db = Connection.forBuilding(paths.database)
  let log: LineFile | undefined
  try {
    db.exec('BEGIN')
    db.exec([INTERNAL_TABLES, ...schema].join(';'))
    log = new LineFile(paths.log)
    return { db, log, records: new LineFile(paths.source) }
  } catch (error) {
    log?.close()
    db.close()
    throw error
  }
}
