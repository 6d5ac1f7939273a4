import type { JsonObject, JsonValue } from '../../contract/json/json.ts'

/** An input file. It is read from its start several times, and by some formats at random offsets. */
export interface FileSource {
  readonly path: string
  /** The name in messages. */
  readonly name: string
}

/**
 * The types of a file's cells: `text` has texts only, `cells` those of spreadsheets (texts, numbers, booleans, dates
 * as texts), `values` has JSON values of the types in the file.
 */
export type CellKind = 'text' | 'cells' | 'values'

/** The unit of places in a file. */
export type PlaceUnit = 'line' | 'row' | 'record'

/** A record of a file, not validated. */
export interface RawRecord {
  /** The values by column. An empty cell is absent; null is an explicit null of the file. */
  readonly values: JsonObject
  /** Its start, counted from 1 in the file's {@link RawRecords.unit}. */
  readonly at: number
  /** Columns with a value that the file does not store; an import does not change these fields. */
  readonly unknown?: readonly string[]
  /** The line on which it begins, from 1, in a text file with another unit. */
  readonly line?: number
}

/** The records of a file, of which few are in memory at a time. */
export interface RawRecords {
  readonly source: FileSource
  /** The names of the columns, if the format has them before the records; null if each record has its own. */
  readonly fields: readonly string[] | null
  readonly cells: CellKind
  readonly unit: PlaceUnit
  /**
   * The records from the first, for each iteration. Throws ValidationError, naming file and place, for an invalid
   * file and for one beyond the limits.
   */
  readonly batches: AsyncIterable<readonly RawRecord[]>
  /** Returns the guesses so far; each a sentence without a full stop. */
  readonly guesses?: () => readonly string[]
  /** Returns the approximate part that the last iteration has read, from 0 to 1. */
  progress(): number
}

/**
 * Returns the place of a record for messages: `data.csv:12`, `data.xlsx, row 12`, `data.parquet, record 12`, or
 * `data.json:3, record 12`.
 */
export function placeOf(
  { source, unit }: Pick<RawRecords, 'source' | 'unit'>,
  { at, line }: Pick<RawRecord, 'at' | 'line'>,
): string {
  if (unit === 'line') return `${source.name}:${at}`
  return `${source.name}${line === undefined ? '' : `:${line}`}, ${unit} ${at}`
}

/** The limits of a batch, in records and characters. */
const BATCH_RECORDS = 1000
const BATCH_SIZE = 4 << 20

/** Collects records into batches of limited length and size. */
export class Batch {
  #records: RawRecord[] = []
  #size = 0

  /** Adds a record of approximately this many characters. */
  add(record: RawRecord, size: number): void {
    this.#records.push(record)
    this.#size += size
  }

  get isEmpty(): boolean {
    return this.#records.length === 0
  }

  get isFull(): boolean {
    return this.#records.length >= BATCH_RECORDS || this.#size >= BATCH_SIZE
  }

  /** Returns the records so far and empties the batch. */
  take(): readonly RawRecord[] {
    const records = this.#records
    this.#records = []
    this.#size = 0
    return records
  }
}

/** Returns the values of a record by column; cells without a value, and columns without a name, are `undefined`. */
export function valuesOf(
  names: readonly (string | undefined)[],
  cells: readonly (JsonValue | undefined)[],
): JsonObject {
  // In an object with a prototype, a column `__proto__` would set it.
  const values: Record<string, JsonValue> = names.includes('__proto__')
    ? (Object.create(null) as Record<string, JsonValue>)
    : {}
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]
    const cell = cells[index]
    if (name !== undefined && cell !== undefined) values[name] = cell
  }
  return values
}
