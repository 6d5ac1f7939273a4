import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { FieldChange, NewRecord, StoredRecord } from '../../rules/store-change.ts'
import { memberOf } from '../../sheet-files/import-lines.ts'
import type { StoredRow } from '../database/connection.ts'
import type { TypedField } from '../database/columns.ts'
import { fieldValue } from '../database/values.ts'

export class RecordUnderChange implements StoredRecord {
  readonly key: RecordKey
  readonly id: string
  /** The row in the table; of a new record, its key and id. */
  readonly #row: StoredRow
  /** The values with which a new record was created; null for a stored one. */
  readonly #created: JsonObject | null
  readonly #values: Map<string, JsonValue>
  readonly #changed: Set<string>
  #version: number
  #isNew: boolean

  private constructor(parts: {
    row: StoredRow
    created: JsonObject | null
    values: Map<string, JsonValue>
    changed: Set<string>
    version: number
    isNew: boolean
  }) {
    this.key = Number(parts.row['$seq'])
    this.id = String(parts.row['id'])
    this.#row = parts.row
    this.#created = parts.created
    this.#values = parts.values
    this.#changed = parts.changed
    this.#version = parts.version
    this.#isNew = parts.isNew
  }

  static stored(row: StoredRow): RecordUnderChange {
    const version = Number(row['$version'])
    return new RecordUnderChange({
      row,
      created: null,
      values: new Map(),
      changed: new Set(),
      version,
      isNew: false,
    })
  }

  static created(record: NewRecord): RecordUnderChange {
    return new RecordUnderChange({
      row: { $seq: record.key, id: record.id },
      created: record.record,
      values: new Map(),
      changed: new Set(),
      version: record.seq,
      isNew: true,
    })
  }

  copy(): RecordUnderChange {
    const [values, changed] = [new Map(this.#values), new Set(this.#changed)]
    return new RecordUnderChange({
      row: this.#row,
      created: this.#created,
      values,
      changed,
      version: this.#version,
      isNew: this.#isNew,
    })
  }

  get version(): number {
    return this.#version
  }

  /** Whether it has no row yet. */
  get isNew(): boolean {
    return this.#isNew
  }

  value(field: TypedField): JsonValue {
    let value = this.#values.get(field.name)
    if (value !== undefined) return value
    if (this.#created !== null) return memberOf(this.#created, field.name)
    value = fieldValue(field, this.#row)
    this.#values.set(field.name, value)
    return value
  }

  change({ fields, values, seq }: FieldChange): void {
    this.#version = seq
    for (const { name } of fields) {
      this.#values.set(name, memberOf(values, name))
      this.#changed.add(name)
    }
  }

  /** Whether the row has another value. */
  hasChanged(name: string): boolean {
    return this.#changed.has(name)
  }

  /** Marks all changes as written. */
  settled(): void {
    this.#changed.clear()
    this.#isNew = false
  }
}
