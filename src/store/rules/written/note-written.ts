import type { RecordKey } from '../../cell-work.ts'
import type { RecordChange } from '../../../provenance/log-line.ts'
import {
  addWriter,
  FIELDS_OF_PART,
  NUMBERED_FIELDS,
  writerId,
  writtenRows,
  type GivenRows,
  type WrittenRow,
} from '../../rows/written-values.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import type { ChangeTables } from '../record-change.ts'
import { load, type Steps } from '../steps.ts'

/** The values of a record that a line of the log has written. */
export interface WrittenValues {
  readonly record: RecordKey
  readonly actor: string
  /** The number of its run; null for none. */
  readonly run: number | null
  /** The fields that have a value since, and those that have none; null for a deleted record. */
  readonly fields: { readonly filled: readonly string[]; readonly emptied: readonly string[] } | null
  /** Whether the record is new, so that its values had no writers. */
  readonly isNew: boolean
}

/** Returns the values that the line of a record's change writes. */
export function writtenByRecord(change: RecordChange, record: RecordKey): WrittenValues {
  const { actor, fields, values } = change
  const run = typeof change.run === 'string' ? runNumber(change.run) : null
  if (values === null) return { record, actor, run, fields: null, isNew: false }
  const [filled, emptied]: [string[], string[]] = [[], []]
  for (const { name } of fields) {
    const isFilled = Object.hasOwn(values, name) && values[name] !== null
    ;(isFilled ? filled : emptied).push(name)
  }
  return { record, actor, run, fields: { filled, emptied }, isNew: change.previous === null }
}

/** Returns the value that the line of a cell writes. */
export function writtenByCell(
  line: {
    readonly actor: string
    readonly run_id?: unknown
    readonly field: string
    readonly value: unknown
  },
  record: RecordKey,
): WrittenValues {
  const { actor, field, value } = line
  const fields = value === null ? { filled: [], emptied: [field] } : { filled: [field], emptied: [] }
  return { record, actor, run: runNumber(line.run_id), fields, isNew: false }
}

/**
 * Stores who has written the present values of records, after these lines. At most {@link GIVEN_AT_ONCE} lines on
 * SQLite, where each row is a parameter.
 */
export function* noteWritten(
  tables: ChangeTables,
  written: readonly WrittenValues[],
  given: GivenRows,
): Steps<void> {
  if (written.length === 0) return
  const writerOf = yield* findWriters(tables, written)
  const numbers = yield* numberFields(tables, written)
  const created = new Set(written.flatMap(({ isNew, record }) => (isNew ? [record] : [])))
  const records = [...new Set(written.map(({ record }) => record)).difference(created)]
  const before = records.length === 0 ? [] : yield* load(tables.query(writtenRows(records, given)))
  const rows = new PresentRows(before, numbers)
  for (const values of written) rows.write(values, writerOf.get(keyOf(values)) ?? 0)
  const { changed, emptied, counts } = rows.result()
  if (changed.length > 0) {
    const { sql, params } = given(
      changed.map(({ record, part, writer, fields }) => [record, part, writer, fields]),
    )
    yield* load(
      tables.change({
        sql: `INSERT INTO "$written" (record, part, writer, fields)
          SELECT column1, column2, column3, column4 FROM ${sql} AS given WHERE TRUE
          ON CONFLICT (record, part, writer) DO UPDATE SET fields = excluded.fields`,
        params,
      }),
    )
  }
  if (emptied.length > 0) {
    const { sql, params } = given(emptied.map(({ record, part, writer }) => [record, part, writer]))
    yield* load(
      tables.change({
        sql: `DELETE FROM "$written" WHERE (record, part, writer) IN (
          SELECT column1, column2, column3 FROM ${sql} AS given)`,
        params,
      }),
    )
  }
  for (const [writer, { cells, parts }] of counts) {
    const sql = 'UPDATE "$writer" SET cells = cells + ?1, parts = parts + ?2 WHERE id = ?3'
    if (cells !== 0 || parts !== 0) yield* load(tables.change({ sql, params: [cells, parts, writer] }))
  }
  if (counts.values().some(({ parts }) => parts < 0))
    yield* load(tables.change({ sql: 'DELETE FROM "$writer" WHERE parts = 0', params: [] }))
}

function keyOf({ actor, run }: Pick<WrittenValues, 'actor' | 'run'>): string {
  return `${run} ${actor}`
}

/** Returns the ids of the writers of lines, by their keys; adds those that are new. */
function* findWriters(
  tables: ChangeTables,
  written: readonly WrittenValues[],
): Steps<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>()
  for (const { actor, run, fields } of written) {
    const key = keyOf({ actor, run })
    if (ids.has(key) || fields === null) continue
    let id = yield* load(tables.query(writerId(actor, run)))
    if (id === null) {
      yield* load(tables.change(addWriter(actor, run)))
      id = yield* load(tables.query(writerId(actor, run)))
    }
    ids.set(key, id ?? 0)
  }
  return ids
}

/** Returns the numbers of fields; adds those that are new. */
function* numberFields(
  tables: ChangeTables,
  written: readonly WrittenValues[],
): Steps<ReadonlyMap<string, number>> {
  const known = yield* load(tables.query(NUMBERED_FIELDS))
  const numbers = new Map(known.flatMap(({ field, number }) => (field === null ? [] : [[field, number]])))
  let next = (known.at(-1)?.number ?? -1) + 1
  for (const name of newFields(written, numbers)) {
    const sql = 'INSERT INTO "$written_field" (number, field) VALUES (?1, ?2)'
    yield* load(tables.change({ sql, params: [next, name] }))
    numbers.set(name, next)
    next += 1
  }
  return numbers
}

/** Returns the fields of lines that have no number yet. */
function newFields(written: readonly WrittenValues[], numbers: ReadonlyMap<string, number>): Set<string> {
  const found = new Set<string>()
  let checked: readonly string[] = []
  for (const { fields } of written) {
    if (fields === null) continue
    // Most lines of a large write have the same fields.
    if (!isSameList(fields.filled, checked))
      for (const name of fields.filled) if (!numbers.has(name)) found.add(name)
    checked = fields.filled
  }
  return found
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index])
}

interface WriterCounts {
  cells: number
  parts: number
}

/** A row, with the fields that it has in the table; 0 for a new one. */
interface PresentRow extends WrittenRow {
  fields: number
  readonly before: number
}

/** The rows of some records, which follow the lines that write their values. */
class PresentRows {
  readonly #numbers: ReadonlyMap<string, number>
  /** The latest list of fields, and its mask: most lines of a large write have the same. */
  #latest: { readonly fields: readonly string[]; readonly mask: readonly number[] } = { fields: [], mask: [] }
  readonly #rows = new Map<RecordKey, PresentRow[]>()

  constructor(rows: readonly WrittenRow[], numbers: ReadonlyMap<string, number>) {
    this.#numbers = numbers
    for (const { record, part, writer, fields } of rows)
      this.#of(record).push({ record, part, writer, fields, before: fields })
  }

  write({ record, fields }: WrittenValues, writer: number): void {
    const rows = this.#of(record)
    if (fields === null) {
      for (const row of rows) row.fields = 0
      return
    }
    const filled = this.#maskOfFilled(fields.filled)
    const emptied = maskOf(fields.emptied, this.#numbers)
    for (const row of rows)
      row.fields = without(row.fields, (filled[row.part] ?? 0) + (emptied[row.part] ?? 0))
    for (const [part, mask = 0] of filled.entries()) {
      if (mask === 0) continue
      const own = rows.find((row) => row.part === part && row.writer === writer)
      if (own === undefined) rows.push({ record, part, writer, fields: mask, before: 0 })
      else own.fields += mask
    }
  }

  /** Returns the rows to store and to delete, and the changes of the counters of writers. */
  result(): {
    readonly changed: readonly WrittenRow[]
    readonly emptied: readonly WrittenRow[]
    readonly counts: ReadonlyMap<number, WriterCounts>
  } {
    const counts = new Map<number, WriterCounts>()
    const [changed, emptied]: [WrittenRow[], WrittenRow[]] = [[], []]
    for (const rows of this.#rows.values()) {
      for (const row of rows) {
        const { writer, fields, before } = row
        if (fields === before) continue
        ;(fields === 0 ? emptied : changed).push(row)
        const count = counts.get(writer) ?? { cells: 0, parts: 0 }
        count.cells += countFields(fields) - countFields(before)
        count.parts += Number(fields > 0) - Number(before > 0)
        counts.set(writer, count)
      }
    }
    return { changed, emptied, counts }
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

/** Returns the bits of fields in each part; a field without a number has never had a value. */
function maskOf(fields: readonly string[], numbers: ReadonlyMap<string, number>): number[] {
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
