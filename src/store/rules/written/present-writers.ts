import type { RecordKey } from '../../cell-work.ts'
import { FIELDS_OF_PART, type WrittenRow } from '../../rows/written-values.ts'
import type { FieldNumbers } from './number-fields.ts'
import type { WrittenValues } from './written-by.ts'

/** A writer, with the changes of its counters. */
export interface WriterChange {
  readonly actor: string
  /** The number of its run; null for none. */
  readonly run: number | null
  cells: number
  parts: number
}

/** A row of `$written` to store, or without fields to delete. */
export interface WrittenChange {
  readonly record: RecordKey
  readonly part: number
  /** The place of the writer among those that have changed. */
  readonly writer: number
  readonly fields: number
}

/** Changes of the tables of writers. */
export interface WriterChanges {
  readonly writers: readonly WriterChange[]
  readonly rows: readonly WrittenChange[]
}

/** A row, with the fields that it has in the table; 0 for a new one. */
interface PresentRow {
  readonly part: number
  readonly writer: string
  fields: number
  before: number
}

/**
 * The rows of `$written` of some records, which follow the lines that write their values: a value has the writer of its latest line.
 * Stored rows of a record must be added before its first line.
 */
export class PresentWriters {
  readonly #numbers: FieldNumbers
  /** The latest list of fields, and its mask: most lines of a large write have the same. */
  #latest: { readonly fields: readonly string[]; readonly mask: readonly number[] } = { fields: [], mask: [] }
  readonly #rows = new Map<RecordKey, PresentRow[]>()
  readonly #writers = new Map<string, Pick<WriterChange, 'actor' | 'run'>>()
  /** The records with lines since the changes were last taken. */
  readonly #touched = new Set<RecordKey>()

  constructor(numbers: FieldNumbers) {
    this.#numbers = numbers
  }

  /** Adds rows of the table. */
  add(rows: readonly WrittenRow[]): void {
    for (const { record, part, actor, run, fields } of rows)
      this.#of(record).push({ part, writer: this.#writer(actor, run), fields, before: fields })
  }

  /** Changes the rows of a record by the values that a line has written. */
  write({ record, actor, run, fields }: WrittenValues): void {
    const rows = this.#of(record)
    this.#touched.add(record)
    if (fields === null) {
      for (const row of rows) row.fields = 0
      return
    }
    const filled = this.#maskOfFilled(fields.filled)
    const emptied = maskOf(fields.emptied, this.#numbers)
    for (const row of rows)
      row.fields = without(row.fields, (filled[row.part] ?? 0) + (emptied[row.part] ?? 0))
    const writer = this.#writer(actor, run)
    for (const [part, mask = 0] of filled.entries()) {
      if (mask === 0) continue
      const own = rows.find((row) => row.part === part && row.writer === writer)
      if (own === undefined) rows.push({ part, writer, fields: mask, before: 0 })
      else own.fields += mask
    }
  }

  /** Returns the changes since the last call, which are about to be stored. */
  take(): WriterChanges {
    const places = new Map<string, number>()
    const writers: WriterChange[] = []
    const changed: WrittenChange[] = []
    for (const record of this.#touched) {
      for (const row of this.#of(record)) {
        const { part, fields, before } = row
        if (fields === before) continue
        const writer = places.get(row.writer) ?? writers.length
        if (writer === writers.length) {
          places.set(row.writer, writer)
          writers.push({ ...this.#writers.get(row.writer)!, cells: 0, parts: 0 })
        }
        const count = writers[writer]!
        count.cells += countFields(fields) - countFields(before)
        count.parts += Number(fields > 0) - Number(before > 0)
        changed.push({ record, part, writer, fields })
        row.before = fields
      }
    }
    this.#touched.clear()
    return { writers, rows: changed }
  }

  #writer(actor: string, run: number | null): string {
    const key = `${run} ${actor}`
    if (!this.#writers.has(key)) this.#writers.set(key, { actor, run })
    return key
  }

  #maskOfFilled(fields: readonly string[]): readonly number[] {
    if (!isSameList(fields, this.#latest.fields))
      this.#latest = { fields, mask: maskOf(fields, this.#numbers) }
    return this.#latest.mask
  }

  #of(record: RecordKey): PresentRow[] {
    let rows = this.#rows.get(record)
    if (rows === undefined) {
      rows = []
      this.#rows.set(record, rows)
    }
    return rows
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index])
}

/** Returns the bits of fields in each part. */
function maskOf(fields: readonly string[], numbers: FieldNumbers): number[] {
  const mask: number[] = []
  for (const field of fields) {
    const number = numbers.get(field)
    if (number === undefined) continue
    const part = Math.floor(number / FIELDS_OF_PART)
    while (mask.length <= part) mask.push(0)
    mask[part] = (mask[part] ?? 0) + 2 ** (number % FIELDS_OF_PART)
  }
  return mask
}

/** Operators on bits of JavaScript take 32 of them: the halves of a mask are combined one by one. */
const HALF = 2 ** (FIELDS_OF_PART / 2)

/** Returns a mask without the bits of another. */
function without(fields: number, others: number): number {
  const [high, low] = [Math.floor(fields / HALF), fields % HALF]
  return (high & ~Math.floor(others / HALF)) * HALF + (low & ~(others % HALF))
}

function countFields(fields: number): number {
  return countBits(Math.floor(fields / HALF)) + countBits(fields % HALF)
}

function countBits(half: number): number {
  let count = 0
  for (let left = half; left !== 0; left &= left - 1) count += 1
  return count
}
