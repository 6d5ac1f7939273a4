import type { StatementSync } from 'node:sqlite'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { ChangedRecords, FieldChange, NewRecord, StoredRecord } from '../../rules/store-change.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { canBeId, fromColumn, toColumn } from '../database/values.ts'
import type { CellStates } from './cell-states.ts'
import { NewRecords } from './new-records.ts'

/** The number of ids from which on one statement for all is faster than one for each. */
const LOOKED_UP_TOGETHER = 64

/** The records of a change set; new ones are inserted together. */
export class StoredRecords implements ChangedRecords {
  readonly #db: Connection
  readonly #new: NewRecords
  #select: StatementSync | null = null
  #update: StatementSync | null = null
  /** The fields of {@link #update}. */
  #updated: readonly Field[] | null = null
  /** The ids that may exist, of those that were loaded; null when unknown. */
  #existing: Set<string> | null = null

  constructor(parts: { db: Connection; contract: Contract; cells: CellStates }) {
    this.#db = parts.db
    this.#new = new NewRecords(parts)
  }

  load(ids: readonly string[]): void {
    this.#existing = null
    // Where the first is new, most others are: to look their ids up together takes half the time.
    if (ids.length >= LOOKED_UP_TOGETHER && this.get(ids[0] ?? '') === undefined)
      this.#existing = existingIds(this.#db, ids)
  }

  get(id: string): StoredRecord | undefined {
    if (this.#existing?.has(id) === false || !canBeId(id)) return undefined
    this.#new.flush()
    this.#select ??= this.#db.prepare('SELECT * FROM "$data" WHERE id = ?')
    const row = this.#select.get(id)
    return row === undefined ? undefined : new RecordRow(row)
  }

  insert(record: NewRecord): void {
    this.#new.add(record)
    this.#existing?.add(record.id)
  }

  update({ key }: StoredRecord, { fields, values, seq }: FieldChange): void {
    const stored = fields.map(({ name }) => toColumn(memberOf(values, name)))
    this.#updateOf(fields).run(seq, ...stored, key)
  }

  /** Returns the statement, made once for a list: the records of a batch mostly have the same. */
  #updateOf(fields: readonly Field[]): StatementSync {
    if (this.#update === null || this.#updated !== fields) {
      const set = fields.map(({ name }) => `${quoted(name)} = ?`).join(', ')
      this.#update = this.#db.prepare(`UPDATE "$data" SET "$version" = ?, ${set} WHERE "$seq" = ?`)
      this.#updated = fields
    }
    return this.#update
  }

  delete({ key }: StoredRecord): void {
    this.#db.run('DELETE FROM "$data" WHERE "$seq" = ?', key)
  }

  /** Inserts new records into the tables. */
  flush(): void {
    this.#new.flush()
  }

  /** Drops new records that are not inserted yet, when their operation is rolled back. */
  drop(): void {
    this.#new.drop()
    this.#existing = null
  }
}

class RecordRow implements StoredRecord {
  readonly #row: StoredRow

  constructor(row: StoredRow) {
    this.#row = row
  }

  get key(): RecordKey {
    return Number(this.#row['$seq'])
  }

  get id(): string {
    return String(this.#row['id'])
  }

  get version(): number {
    return Number(this.#row['$version'])
  }

  value(field: Field): JsonValue {
    return fromColumn(field, this.#row[field.name])
  }
}

function existingIds(db: Connection, ids: readonly string[]): Set<string> {
  const rows = db.all(
    'SELECT data.id FROM json_each(?) AS sent CROSS JOIN "$data" AS data ON data.id = sent.value',
    JSON.stringify(ids),
  )
  return new Set(rows.map(({ id }) => String(id)))
}
