import { firstWrittenNumber } from '../../contract/json/exact-json.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { MAX_FIELDS } from '../../contract/odcs/parse-contract.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { structureError } from '../../contract/values/value-structure.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { ColumnSketch } from './infer-column.ts'
import { placeOf, type RawRecord, type RawRecords } from '../io/raw-records.ts'
import { ByteBudget } from './value-set.ts'

/** The most bytes for detecting unique values: sixteen columns of a million values. */
const KEY_BYTES = 256 * 1024 * 1024

/** Statistics of a file's records. */
export interface FileProfile {
  readonly file: Pick<RawRecords, 'source' | 'unit' | 'cells'>
  /** The columns in the order of their first occurrence. */
  readonly columns: readonly ColumnSketch[]
  readonly records: number
}

/**
 * Reads a file's records once. Memory does not grow with their number, except for some bytes for each value of
 * possible keys; `key` is the column that must be the key, or null. A null value is absent. Throws ValidationError
 * for values that no field accepts (D13), and for more columns than a sheet can have fields.
 */
export async function profileRecords(file: RawRecords, key: string | null): Promise<FileProfile> {
  const profiler = new Profiler(file, key)
  for await (const batch of file.batches) {
    for (const record of batch) profiler.add(record)
  }
  return profiler.end()
}

class Profiler {
  readonly #file: RawRecords
  readonly #key: string | null
  readonly #budget = new ByteBudget(KEY_BYTES)
  readonly #columns = new Map<string, ColumnSketch>()
  #records = 0

  constructor(file: RawRecords, key: string | null) {
    this.#file = file
    this.#key = key
    for (const column of file.fields ?? []) this.#column(column, { at: 1 })
  }

  add(record: RawRecord): void {
    this.#records += 1
    for (const name of Object.keys(record.values)) this.#addValue(name, record)
  }

  end(): FileProfile {
    for (const column of this.#columns.values()) column.release()
    return { file: this.#file, columns: [...this.#columns.values()], records: this.#records }
  }

  #addValue(name: string, record: RawRecord): void {
    const value = record.values[name] ?? null
    const column = this.#columns.get(name) ?? this.#column(name, record)
    if (value === null) return
    const lossy = firstWrittenNumber(value)
    if (lossy !== null) {
      column.addLossy(value, lossy, record.at)
      return
    }
    if (typeof value !== 'number' && typeof value !== 'boolean') this.#checkStructure(name, value, record)
    column.add(value, record.at)
  }

  #column(name: string, record: Pick<RawRecord, 'at' | 'line'>): ColumnSketch {
    if (this.#columns.size === MAX_FIELDS) {
      throw new ValidationError(
        `${placeOf(this.#file, record)}: more than ${MAX_FIELDS} columns; a sheet has at most so many fields`,
        'unreadable_file',
      )
    }
    const { cells } = this.#file
    const column = new ColumnSketch(name, { cells, key: name === this.#key, budget: this.#budget })
    this.#columns.set(name, column)
    return column
  }

  #checkStructure(name: string, value: JsonValue, record: RawRecord): void {
    const fault = structureError(value)
    if (fault === null) return
    throw new ValidationError(
      `${placeOf(this.#file, record)}, column ${showValue(name)}: ${fault}; no field takes that`,
      'unreadable_file',
    )
  }
}
