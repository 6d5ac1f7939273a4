import type { SQLOutputValue } from 'node:sqlite'
import type { JsonValue } from '../../../contract/json/json.ts'
import type { Condition } from '../../condition.ts'
import { MAX_FOUND_VALUES, type FieldSummary, type Histogram, type Summary } from '../../sheet-store.ts'
import { quoted } from '../database/schema.ts'
import { placeOf, type BoundCondition } from './condition-sql.ts'
import type { TypedField } from './json-columns.ts'
import { filteredRecords, withFilter } from './run-page.ts'
import type { ResultWriter } from './sql-result.ts'
import type { SqlDatabase } from './sql-database.ts'

/** A summary of the records that a filter from a user selects. */
export interface SummaryRun {
  readonly fields: readonly SummarizedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  /** Null for all records. */
  readonly filter: string | null
  /** A condition as data; it must hold as well as the filter. None when absent. */
  readonly where?: Condition | null
  /** A text that the listed values contain; any when absent. */
  readonly search?: string | null
}

export interface SummarizedField extends TypedField {
  /** Whether every record has another value. */
  readonly primaryKey: boolean
}

const RANGES = 20
const TOP = 10

/** Longer texts are not listed as values to pick from. */
const LONGEST_VALUE = 200

/** Writes a {@link Summary} as JSON. Throws QueryError. */
export function runSummary(database: SqlDatabase, run: SummaryRun, writer: ResultWriter): void {
  const summary = withFilter(database, run.filter, (filter): Summary => {
    const columns = run.allFields.map(({ name }) => quoted(name)).join(', ')
    const { where = null, search = null } = run
    const summarizer = new Summarizer(database, filteredRecords(columns, { filter, where }), search)
    const isAll = filter === null && where === null
    const count = isAll ? countOfSheet(database) : summarizer.number('count(*)')
    return {
      count,
      fields: Object.fromEntries(run.fields.map((field) => [field.name, summarizer.field(field, count)])),
    }
  })
  writer.text(JSON.stringify(summary))
}

function countOfSheet(database: SqlDatabase): number {
  return Number(database.prepare('SELECT records FROM "$sheet"').get()?.['records'])
}

class Summarizer {
  readonly #database: SqlDatabase
  /** `FROM …`, in which the fields can be named. */
  readonly #from: string
  /** The parameters of {@link #from}. */
  readonly #params: readonly (string | number)[]
  readonly #search: string | null

  constructor(database: SqlDatabase, records: BoundCondition, search: string | null) {
    this.#database = database
    this.#from = `FROM ${records.sql}`
    this.#params = records.params
    this.#search = search
  }

  /** Summarizes a field of `count` records. */
  field({ name, type, primaryKey }: SummarizedField, count: number): FieldSummary {
    const column = quoted(name)
    const nulls = count - this.number(`count(${column})`)
    if (nulls === count || type === 'object') return { nulls }
    if (primaryKey) return { nulls, distinct: count }
    switch (type) {
      case 'integer':
      case 'number':
      case 'date':
      case 'timestamp':
        return { nulls, ...this.#spread(column, SCALES[type]) }
      case 'string':
      case 'time':
        return { nulls, ...this.#frequent(this.#valuesOf(column), { show: String }) }
      case 'boolean':
        return { nulls, ...this.#frequent(this.#valuesOf(column), { show: Boolean }) }
      case 'array':
        return {
          nulls,
          ...this.#frequent(this.#items(column), {
            show: (text) => JSON.parse(String(text)) as JsonValue,
            text: `("$value" ->> '$')`,
          }),
        }
    }
  }

  /** Returns the number that an expression over the records has. */
  number(expression: string): number {
    return Number(this.#rows(`SELECT ${expression} ${this.#from}`, this.#params)[0]?.[0] ?? 0)
  }

  #spread(column: string, { onScale, unit, perStep, show }: Scale): { readonly histogram?: Histogram } {
    const scaled = onScale(column)
    const ends = `SELECT min(${scaled}), max(${scaled}) ${this.#from}`
    const [least, greatest] = this.#rows(ends, this.#params)[0] ?? []
    if (typeof least !== 'number' || typeof greatest !== 'number') return {}
    const { step, ranges } = divide(greatest - least, unit)
    if (!Number.isFinite(step)) return {}
    const rows = this.#rows(
      `SELECT min(CAST((${scaled} - ?) / ? AS INTEGER), ?) AS "$range", count(*) ${this.#from} GROUP BY "$range"`,
      [least, step, ranges - 1, ...this.#params],
    )
    const counts = Array<number>(ranges).fill(0)
    for (const [range, count] of rows) if (range !== null) counts[Number(range)] = Number(count)
    return { histogram: { from: show(least), to: show(greatest), step: step / perStep, counts } }
  }

  #valuesOf(column: string): string {
    return `SELECT ${column} AS "$value" ${this.#from}`
  }

  /**
   * Counts values and lists the most frequent. `values` is a SELECT of one column, `$value`; `text` is SQL for the text of
   * a value that is searched.
   */
  #frequent(
    values: string,
    {
      show,
      text = '"$value"',
    }: { readonly show: (value: SQLOutputValue) => JsonValue; readonly text?: string },
  ): Pick<FieldSummary, 'distinct' | 'top'> {
    const counted = `SELECT "$value", count(*) AS "$count" FROM (${values}) WHERE "$value" IS NOT NULL GROUP BY "$value"`
    const distinct = Number(this.#rows(`SELECT count(*) FROM (${counted})`, this.#params)[0]?.[0])
    const short = `length("$value") <= ${LONGEST_VALUE}`
    const ranked = `"$count" DESC, "$value"`
    const found = (): (readonly SQLOutputValue[])[] => {
      if (this.#search === null) {
        const sql = `SELECT * FROM (${counted}) WHERE ${short} ORDER BY ${ranked} LIMIT ${TOP}`
        return this.#rows(sql, this.#params)
      }
      const params = [...this.#params]
      const place = placeOf(text, this.#search, (value) => {
        params.push(value)
        return '?'
      })
      return this.#rows(
        `WITH "$counted" AS (${counted}) SELECT "$value", "$count" FROM (SELECT *, ${place} AS "$place" FROM "$counted" WHERE ${short})
          WHERE "$place" > 0 ORDER BY "$place" > 1, ${ranked} LIMIT ${MAX_FOUND_VALUES}`,
        params,
      )
    }
    return {
      distinct,
      top: found().map(([value, count]) => ({ value: show(value ?? null), count: Number(count) })),
    }
  }

  /** Returns SQL for the items of arrays, as JSON text. */
  #items(column: string): string {
    const item = `CASE item.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
      WHEN 'text' THEN json_quote(item.value) ELSE CAST(item.value AS TEXT) END`
    return `SELECT ${item} AS "$value" FROM (SELECT ${column} AS "$items" ${this.#from}), json_each("$items") AS item`
  }

  #rows(sql: string, params: readonly (string | number)[]): (readonly SQLOutputValue[])[] {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    return statement.all(...params) as unknown as (readonly SQLOutputValue[])[]
  }
}

/** The measure of the values of a type. */
interface Scale {
  /** Returns SQL for the position on the scale, a number. */
  onScale(column: string): string
  /** The least distance of two values; 0 for a continuous scale. */
  readonly unit: number
  /** The step of a histogram is reported in this unit of the scale. */
  readonly perStep: number
  show(place: number): string | number
}

const DAY = 86_400

const SCALES: Readonly<Record<'integer' | 'number' | 'date' | 'timestamp', Scale>> = {
  integer: { onScale: (column) => column, unit: 1, perStep: 1, show: (value) => value },
  number: { onScale: (column) => column, unit: 0, perStep: 1, show: (value) => value },
  date: {
    onScale: (column) => `unixepoch(${column})`,
    unit: DAY,
    perStep: DAY,
    show: (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10),
  },
  timestamp: {
    onScale: (column) => `unixepoch(${column}, 'subsec')`,
    unit: 0,
    perStep: 1,
    show: (seconds) => new Date(Math.round(seconds * 1000)).toISOString(),
  },
}

/**
 * Divides an extent into ranges of whole units, so that each can hold as many values as the others; few values have a range
 * each.
 */
function divide(width: number, unit: number): { readonly step: number; readonly ranges: number } {
  if (unit === 0) return width === 0 ? { step: 1, ranges: 1 } : { step: width / RANGES || 1, ranges: RANGES }
  const values = width / unit + 1
  const perRange = Math.ceil(values / RANGES)
  return { step: perRange * unit, ranges: Math.ceil(values / perRange) }
}
