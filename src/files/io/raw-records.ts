import type { JsonObject, JsonValue } from '../../contract/json/json.ts'

/** A file that records are read from. It is read from its start each time, and some formats read it here and there. */
export interface FileSource {
  readonly path: string
  /** What messages call it. */
  readonly name: string
}

/**
 * What the cells of a file are: `text` has texts only, `cells` has what spreadsheets know (texts, numbers, true and false,
 * dates as texts), `values` has JSON values of whatever type the file says.
 */
export type CellKind = 'text' | 'cells' | 'values'

/** What a file counts its records by. */
export type PlaceUnit = 'line' | 'row' | 'record'

/** A record as a file has it: nothing is held to a contract. */
export interface RawRecord {
  /** A cell with nothing in it is absent; null is a null that the file itself states. */
  readonly values: JsonObject
  /** Where it begins, counted from 1 in the file's {@link RawRecords.unit}. */
  readonly at: number
  /** Columns whose value the file does not have, though there is one: an import leaves the fields as they are. */
  readonly unknown?: readonly string[]
  /** The line that it begins on, from 1, in a text file whose unit is another. */
  readonly line?: number
}

/** The records of a file, of which few are in memory at a time. */
export interface RawRecords {
  readonly source: FileSource
  /** The names of the columns, where the format says them before the records; null where each record has its own. */
  readonly fields: readonly string[] | null
  readonly cells: CellKind
  readonly unit: PlaceUnit
  /**
   * Goes through the records from the first on, every time it is asked. Throws ValidationError naming file and place for
   * what is no such file, or goes past the limits of one.
   */
  readonly batches: AsyncIterable<readonly RawRecord[]>
  /** What was guessed about the file so far, for people to look at; each a sentence without a full stop. */
  readonly guesses?: () => readonly string[]
  /** How much of the file the last pass over it has seen, from 0 to 1; about. */
  progress(): number
}

/**
 * The place of a record in messages: `data.csv:12`, `data.xlsx, row 12`, `data.parquet, record 12`, or
 * `data.json:3, record 12`.
 */
export function placeOf(
  { source, unit }: Pick<RawRecords, 'source' | 'unit'>,
  { at, line }: Pick<RawRecord, 'at' | 'line'>,
): string {
  if (unit === 'line') return `${source.name}:${at}`
  return `${source.name}${line === undefined ? '' : `:${line}`}, ${unit} ${at}`
}

/** How many records are handed on at once, and how many characters of them. */
const BATCH_RECORDS = 1000
const BATCH_SIZE = 4 << 20

/** Gathers records into batches that are neither long nor large. */
export class Batch {
  #records: RawRecord[] = []
  #size = 0

  /** Adds a record of about this many characters. */
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

  /** The records so far; the batch is empty afterwards. */
  take(): readonly RawRecord[] {
    const records = this.#records
    this.#records = []
    this.#size = 0
    return records
  }
}

/** Makes the values of a record from its columns; cells without anything are `undefined`, and so are names of no column. */
export function valuesOf(
  names: readonly (string | undefined)[],
  cells: readonly (JsonValue | undefined)[],
): JsonObject {
  // Of an object with a prototype, a column `__proto__` would set that.
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
