import type { Field } from '../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { RecordKey } from '../sheet-store.ts'
import type { StoredRow } from './connection.ts'
import { fieldValue, type TypedField } from './values.ts'

/** A record as a change set leaves it. */
export interface StoredRecord {
  readonly key: RecordKey
  readonly id: string
  /** The seq of its last change. */
  readonly version: number
  value(field: TypedField): JsonValue
}

/** A record that is being created. */
export interface NewRecord {
  readonly id: string
  readonly key: RecordKey
  readonly seq: number
  value(field: TypedField): JsonValue
}

/** A record with what was changed of it. */
export class RecordUnderChange implements StoredRecord {
  readonly key: RecordKey
  readonly id: string
  /** As it is in the table; without fields for one that is not there yet. */
  readonly #row: StoredRow
  readonly #values: Map<string, JsonValue>
  readonly #changed: Set<string>
  #version: number
  #isNew: boolean

  private constructor(parts: {
    row: StoredRow
    values: Map<string, JsonValue>
    changed: Set<string>
    version: number
    isNew: boolean
  }) {
    this.key = Number(parts.row['$seq'])
    this.id = String(parts.row['id'])
    this.#row = parts.row
    this.#values = parts.values
    this.#changed = parts.changed
    this.#version = parts.version
    this.#isNew = parts.isNew
  }

  static stored(row: StoredRow): RecordUnderChange {
    const version = Number(row['$version'])
    return new RecordUnderChange({ row, values: new Map(), changed: new Set(), version, isNew: false })
  }

  static created({ id, key, seq, value }: NewRecord, fields: readonly Field[]): RecordUnderChange {
    const values = new Map(fields.map((field) => [field.name, value(field)]))
    const row = { $seq: key, id }
    return new RecordUnderChange({ row, values, changed: new Set(), version: seq, isNew: true })
  }

  copy(): RecordUnderChange {
    const [values, changed] = [new Map(this.#values), new Set(this.#changed)]
    return new RecordUnderChange({
      row: this.#row,
      values,
      changed,
      version: this.#version,
      isNew: this.#isNew,
    })
  }

  get version(): number {
    return this.#version
  }

  /** Whether it is not in the table yet. */
  get isNew(): boolean {
    return this.#isNew
  }

  value(field: TypedField): JsonValue {
    let value = this.#values.get(field.name)
    if (value === undefined) {
      value = fieldValue(field, this.#row)
      this.#values.set(field.name, value)
    }
    return value
  }

  change(values: JsonObject, seq: number): void {
    this.#version = seq
    for (const [name, value] of Object.entries(values)) {
      this.#values.set(name, value)
      this.#changed.add(name)
    }
  }

  /** Whether the table has another value. */
  hasChanged(name: string): boolean {
    return this.#changed.has(name)
  }

  /** All of it is in the table now. */
  written(): void {
    this.#changed.clear()
    this.#isNew = false
  }
}
