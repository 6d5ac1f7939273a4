import type { FieldDef } from 'pg'
import type { JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import { MAX_FORMULA_VALUES } from '../../formula.ts'
import type { QueryRow, RecordsQuery } from '../../records-query.ts'
import { severalRows, valueTooLarge } from '../../rules/sql/sql-errors.ts'
import { toJsonOf } from '../json/column-json.ts'
import type { ColumnText } from '../sql/wire-query.ts'

/** Numbers that JSON lacks. */
const ENDLESS: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])

/** The row that a query returned for a record, or why it has none. */
export type Outcome = Result<QueryRow, string>

/** Reads the values of the targets from rows of a query. */
export class RowReader {
  readonly #targets: RecordsQuery['targets']
  readonly #columns: readonly FieldDef[]
  /** The number of the column of each target. */
  readonly #places: readonly number[]

  /** Throws QueryError for a target that has no column. */
  constructor({ targets }: RecordsQuery, columns: readonly FieldDef[]) {
    this.#targets = targets
    this.#columns = columns
    this.#places = placesOf(targets, columns)
    const lacks = targets.find((_, index) => this.#places[index] === -1)
    if (lacks !== undefined) throw new QueryError(`the query has no column ${lacks.name}`)
  }

  /** Whether the targets have the same values in rows with these columns. */
  reads(columns: readonly FieldDef[]): boolean {
    const placeOf = placesOf(this.#targets, columns)
    return this.#places.every((place, index) => {
      const [own, other] = [this.#columns[place], columns[place]]
      const isSameType = own?.dataTypeID === other?.dataTypeID && own?.tableID === other?.tableID
      return placeOf[index] === place && isSameType
    })
  }

  values(texts: readonly ColumnText[]): Outcome {
    const values: Record<string, JsonValue> = {}
    for (const [index, { name }] of this.#targets.entries()) {
      const place = this.#places[index] ?? 0
      const [text, column] = [texts[place] ?? null, this.#columns[place]]
      if (text === null || column === undefined) values[name] = null
      else {
        const json = toJsonOf(column)(text)
        if (json === 'null' && ENDLESS.has(text)) return err('the result is infinite, or no number')
        values[name] = JSON.parse(json) as JsonValue
      }
    }
    return ok(values)
  }
}

/** Returns the number of the column of each target; -1 for none. */
function placesOf(targets: RecordsQuery['targets'], columns: readonly FieldDef[]): readonly number[] {
  const names = columns.map(({ name }) => name)
  return targets.map(({ name }) => (targets.length === 1 && names.length === 1 ? 0 : names.indexOf(name)))
}

/** Collects what a query returns for some records. */
export class FoundRows {
  /** One for each record, in their order. */
  readonly outcomes: Outcome[]
  bytes = 0
  readonly #ordered: boolean
  readonly #reader: RowReader
  readonly #found: boolean[] = []

  constructor(records: number, ordered: boolean, reader: RowReader) {
    this.outcomes = Array.from({ length: records }, () => ok(null))
    this.#ordered = ordered
    this.#reader = reader
  }

  /** Adds a row for the record with this number. Throws QueryError when the rows are too large together. */
  add(record: number, texts: readonly ColumnText[]): void {
    if (this.#found[record] === true) {
      if (!this.#ordered) this.outcomes[record] = err(severalRows().message)
      return
    }
    this.#found[record] = true
    for (const text of texts) this.bytes += text === null ? 4 : Buffer.byteLength(text)
    if (this.bytes > MAX_FORMULA_VALUES) throw valueTooLarge()
    this.outcomes[record] = this.#reader.values(texts)
  }
}
