import { randomBytes } from 'node:crypto'
import type { SQLOutputValue } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import { COPIED_TABLES, type CopiedTable } from '../../sqlite/snapshot/sqlite-copy.ts'
import { SqliteSource } from '../../sqlite/snapshot/sqlite-source.ts'
import type { ClientConnection, Connection } from '../database/connection.ts'
import { copyRows } from '../database/copy-into.ts'
import { SCHEMA_VERSION } from '../database/schema.ts'
import { columnsOf, type TypedField } from '../database/columns.ts'
import { toColumnTexts } from '../database/values.ts'

/** The `sheet.db` of a sheet that is moved to PostgreSQL. */
export class SheetDatabase {
  readonly contract: Contract
  /** The columns of records that keep earlier values. */
  readonly kept: readonly KeptColumn[]
  readonly #source: SqliteSource

  private constructor(source: SqliteSource) {
    this.#source = source
    this.contract = source.contract
    this.kept = source.kept
  }

  /** Opens the file; see {@link SqliteSource.open}, also for its errors. */
  static async open(path: string, lockTimeoutMs: number): Promise<SheetDatabase> {
    return new SheetDatabase(await SqliteSource.open(path, lockTimeoutMs))
  }

  /**
   * Copies all data, in one state, into the empty tables of a new store that follows {@link contract}. Call it in a
   * transaction.
   */
  async copyInto(db: ClientConnection): Promise<void> {
    await this.#source.inOneState(async () => {
      await this.#copySheet(db)
      for (const table of COPIED_TABLES) await this.#copyTable(db, table)
      await this.#copyRecords(db)
    })
    await db.get(
      `SELECT setval(pg_get_serial_sequence('"$derivation"', 'number'), number) FROM "$derivation" ORDER BY number DESC LIMIT 1`,
    )
  }

  close(): void {
    this.#source.close()
  }

  async #copySheet(db: Connection): Promise<void> {
    const sheet = this.#source.sheet()
    const number = (name: string): number => Number(sheet[name] ?? 0)
    const facts = {
      one: 1,
      schema_version: SCHEMA_VERSION,
      contract: this.contract.text,
      cursor_key: randomBytes(32),
      records: number('records'),
      last_record: number('last_record'),
      last_seq: number('last_seq'),
      last_run: number('last_run'),
      last_proposal: number('last_proposal'),
      proposal_changes: number('proposal_changes'),
      history_after: number('history_after'),
      response_bytes: number('response_bytes'),
      response_limit: sheet['response_limit'] as number | null,
      source_size: sheet['source_size'] as number | null,
      source_mtime: sheet['source_mtime'] as number | null,
      source_sha256: sheet['source_sha256'] as string | null,
    }
    const names = Object.keys(facts)
    await db.run(
      `INSERT INTO "$sheet" (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      ...Object.values(facts),
    )
  }

  async #copyTable(db: ClientConnection, table: CopiedTable): Promise<void> {
    const { columns, rows } = this.#source.rows(table)
    const texts = rows.map((row) => columns.map((column) => columnText(knownTo(column, row[column]))))
    await copyRows(db, { table, columns }, texts)
  }

  async #copyRecords(db: ClientConnection): Promise<void> {
    const fields = [...this.contract.fields, ...this.kept]
    const byName = new Map(fields.map((field) => [field.name, field]))
    const { columns, rows } = this.#source.records()
    const inPostgres = columns.flatMap((column) => {
      const field = byName.get(column)
      return field === undefined ? [column] : columnsOf([field])
    })
    const texts = rows.map((row) => {
      const values = new Map(fields.map((field) => [field.name, this.#source.value(field, row)]))
      const valueOf = ({ name }: TypedField): JsonValue => values.get(name) ?? null
      return columns.flatMap((column) => {
        const field = byName.get(column)
        return field === undefined ? [columnText(row[column])] : toColumnTexts(field, valueOf(field))
      })
    })
    await copyRows(db, { table: '$data', columns: inPostgres }, texts)
  }
}

/** Replaces ids with U+0000, which PostgreSQL cannot store, by null; they occur only in imported logs. */
function knownTo(column: string, value: SQLOutputValue | undefined): SQLOutputValue | undefined {
  return column === 'earlier_id' && typeof value === 'string' && value.includes('\0') ? null : value
}

/** Returns a value of SQLite as text that PostgreSQL reads; a boolean is 1 or 0. */
function columnText(value: SQLOutputValue | undefined): string | null {
  if (value === undefined || value === null) return null
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return String(value)
}
