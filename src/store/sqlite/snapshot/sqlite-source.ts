import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { FIELD_CHANGES, keptColumns, type KeptColumn } from '../../fields/stored-changes.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { openDatabase } from '../database/open-database.ts'
import { reading, readingOn } from '../database/reading.ts'
import { quoted } from '../database/schema.ts'
import type { CopiedTable } from './sqlite-copy.ts'
import { lineOf, PACKED } from '../log/stored-line.ts'
import { fromColumn } from '../database/values.ts'

/** Rows that are read as they are iterated, and the names of their columns. */
export interface SourceRows {
  readonly columns: readonly string[]
  readonly rows: IteratorObject<StoredRow>
}

/**
 * The `sheet.db` of a sheet that is moved to another engine. Blocks its thread during reads; throws RecordsError where they
 * fail.
 */
export class SqliteSource {
  readonly contract: Contract
  /** The columns of records that keep earlier values. */
  readonly kept: readonly KeptColumn[]
  readonly #db: Connection

  private constructor(db: Connection, contract: Contract) {
    this.#db = db
    this.contract = contract
    this.kept = keptColumns(db.query(FIELD_CHANGES))
  }

  /**
   * Opens the file as the engine does: checks it first, and migrates it to this version. Throws RecordsError for anything
   * but the store of a sheet, LockTimeoutError when others keep it locked for so many milliseconds.
   */
  static async open(path: string, lockTimeoutMs: number): Promise<SqliteSource> {
    const wait = { deadline: performance.now() + lockTimeoutMs, what: 'sheet.db' }
    const { db, sheet } = await readingOn(openDatabase(path, wait))
    return new SqliteSource(db, parseStoredContract(String(sheet['contract'])))
  }

  /** Makes all that `read` reads be of one state. */
  async inOneState<T>(read: () => Promise<T>): Promise<T> {
    reading(() => this.#db.exec('BEGIN'))
    try {
      return await read()
    } finally {
      this.#db.exec('ROLLBACK')
    }
  }

  /** Returns the row of `$sheet`, with the `seq` of the last line of the log as `last_seq`. */
  sheet(): StoredRow {
    const sql = 'SELECT *, (SELECT max(seq) FROM "$provenance") AS last_seq FROM "$sheet"'
    return reading(() => this.#db.get(sql)) ?? {}
  }

  /** Returns the rows of a table; those of the log with whole lines. */
  rows(table: CopiedTable): SourceRows {
    if (table !== '$provenance') return this.#read(`SELECT * FROM ${quoted(table)}`)
    const { columns, rows } = this.#read(`SELECT *, ${PACKED} FROM "$provenance"`)
    return {
      columns: columns.filter((name) => name !== 'packed'),
      rows: rows.map(({ packed = null, ...row }) => ({ ...row, line: lineOf({ ...row, packed }) })),
    }
  }

  /** Returns the rows of the records, in creation order. */
  records(): SourceRows {
    return this.#read('SELECT * FROM "$data" ORDER BY "$seq"')
  }

  /** Returns the value of a field, or of a column that keeps one, in a row of {@link records}. */
  value(field: KeptColumn, row: StoredRow): JsonValue {
    return fromColumn(field, row[field.name])
  }

  close(): void {
    this.#db.close()
  }

  #read(sql: string): SourceRows {
    const statement = reading(() => this.#db.prepare(sql))
    const rows = statement.iterate()
    const next = (): IteratorResult<StoredRow, undefined> => reading(() => rows.next())
    return { columns: statement.columns().map(({ name }) => name), rows: Iterator.from({ next }) }
  }
}
