import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { JsonValue } from '../../../contract/json/json.ts'
import { LONGEST_VALUE, rangesOf, TOP, type ScaledType } from '../../rules/sql/summary-scales.ts'
import {
  groupFields,
  splitField,
  toGroup,
  toSplits,
  type GroupFields,
  type SplitField,
} from '../../rules/sql/record-groups.ts'
import {
  MAX_FOUND_VALUES,
  MAX_GROUPS,
  MAX_SPLITS,
  type FieldSummary,
  type Histogram,
  type RecordGroup,
  type Summary,
  type SummaryQuery,
} from '../../sheet-store.ts'
import { countRecords, isCountedByCells, type CellConditionSql } from '../../rules/sql/cell-condition-sql.ts'
import { quoted } from '../database/schema.ts'
import { placeOf, type BoundCondition } from './condition-sql.ts'
import type { TypedField } from './json-columns.ts'
import { filteredRecords, withFilter } from './run-page.ts'
import type { ResultWriter } from './sql-result.ts'
import type { SqlDatabase } from './sql-database.ts'

/** A summary of the records that a filter from a user selects. */
export interface SummaryRun extends Omit<SummaryQuery, 'fields'> {
  readonly fields: readonly SummarizedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
}

export interface SummarizedField extends TypedField {
  /** Whether every record has another value. */
  readonly primaryKey: boolean
}

/** Writes a {@link Summary} as JSON. Throws QueryError. */
export function runSummary(database: SqlDatabase, run: SummaryRun, writer: ResultWriter): void {
  const summary = withFilter(database, run, (wanted, cells): Summary => {
    const columns = run.allFields.map(({ name }) => quoted(name)).join(', ')
    const split = run.split ? splitField(run.split, run.allFields) : null
    const records = filteredRecords(columns, wanted)
    const summarizer = new Summarizer(database, records, { search: run.search ?? null, split })
    const count = knownCount(database, run, cells) ?? summarizer.number('count(*)')
    return {
      count,
      fields: Object.fromEntries(run.fields.map((field) => [field.name, summarizer.field(field, count)])),
      ...(run.groups && { groups: summarizer.groups(groupFields(run.groups, run.allFields)) }),
    }
  })
  writer.text(JSON.stringify(summary))
}

/** Returns the number of records if it is known without reading them; null if not. */
function knownCount(
  database: SqlDatabase,
  { filter, where = null }: SummaryRun,
  cells: CellConditionSql,
): number | null {
  if (filter !== null) return null
  if (where === null) return countOfSheet(database)
  if (!isCountedByCells(where)) return null
  const counted = (): unknown => database.prepare(countRecords(cells.records(where))).get()?.['count']
  return cells.count(where) ?? Number(counted())
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
  readonly #split: SplitField | null

  constructor(
    database: SqlDatabase,
    records: BoundCondition,
    { search, split }: { readonly search: string | null; readonly split: SplitField | null },
  ) {
    this.#database = database
    this.#split = split
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
        return { nulls, ...this.#spread(column, type) }
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

  /** Counts the records by their values. */
  groups(fields: GroupFields): readonly RecordGroup[] {
    const { by, split, totals, dateLength } = fields
    const fieldsOfKeys = [by, ...(split === null ? [] : [split])]
    const keys = fieldsOfKeys.map((field) => groupKey(field, dateLength))
    const sums = totals.map(({ name }) => `total(${quoted(name)})`)
    const places = keys.map((_key, index) => index + 1).join(', ')
    const short = fieldsOfKeys
      .filter(({ type }) => type === 'string')
      .map((field) => `coalesce(length(${groupKey(field, dateLength)}), 0) <= ${LONGEST_VALUE}`)
    const having = short.length === 0 ? '' : `HAVING ${short.join(' AND ')}`
    const rows = this.#rows(
      `SELECT ${[...keys, 'count(*) AS "$count"', ...sums].join(', ')} ${this.#from}
        GROUP BY ${places} ${having} ORDER BY "$count" DESC, ${places} LIMIT ${MAX_GROUPS}`,
      this.#params,
    )
    return rows.map((row) => toGroup(fields, row))
  }

  /** Returns the number that an expression over the records has. */
  number(expression: string): number {
    return Number(this.#rows(`SELECT ${expression} ${this.#from}`, this.#params)[0]?.[0] ?? 0)
  }

  #spread(column: string, type: ScaledType): { readonly histogram?: Histogram } {
    const scaled = ON_SCALE[type](column)
    const ends = `SELECT min(${scaled}), max(${scaled}) ${this.#from}`
    const [least, greatest] = this.#rows(ends, this.#params)[0] ?? []
    if (typeof least !== 'number' || typeof greatest !== 'number') return {}
    const ranges = rangesOf(type, least, greatest)
    if (ranges === null) return {}
    const range = `min(CAST((${scaled} - ?) / ? AS INTEGER), ?)`
    const params = [least, ranges.step, ranges.count - 1]
    const split = this.#split
    if (split === null) {
      const sql = `SELECT ${range} AS "$range", count(*) ${this.#from} GROUP BY "$range"`
      return { histogram: ranges.histogram(this.#rows(sql, [...params, ...this.#params])) }
    }
    // A number for each value is grouped faster than the values, and than a sum for each of them.
    const values = this.#largestSplits(split, column)
    const key = groupKey(split.field, split.dateLength)
    const place = `CASE ${values.map((_value, index) => `WHEN ${key} IS ? THEN ${index}`).join(' ')} ELSE ${values.length} END`
    const rows = this.#rows(
      `SELECT ${range} AS "$range", ${place} AS "$place", count(*) ${this.#from} GROUP BY "$range", "$place"`,
      [...params, ...values, ...this.#params],
    )
    const totals = [...Map.groupBy(rows, ([at]) => at)].map(([at, parts]) => [
      at,
      parts.reduce((sum, part) => sum + Number(part[2]), 0),
    ])
    const counts = values.flatMap((value, index) =>
      rows.filter((row) => row[1] === index).map((row) => [row[0], value, row[2]]),
    )
    return { histogram: { ...ranges.histogram(totals), splits: toSplits(split, counts, ranges.count) } }
  }

  /** Returns the most frequent values of the second field, of records with a value in a column, in descending order. */
  #largestSplits({ field, dateLength }: SplitField, column: string): readonly SQLInputValue[] {
    const key = groupKey(field, dateLength)
    const short = field.type === 'string' ? `AND coalesce(length("$value"), 0) <= ${LONGEST_VALUE}` : ''
    const rows = this.#rows(
      `SELECT "$value" FROM (SELECT ${key} AS "$value", ${column} AS "$place" ${this.#from})
        WHERE "$place" IS NOT NULL ${short} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ${MAX_SPLITS}`,
      this.#params,
    )
    return rows.map(([value]) => value ?? null)
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

  #rows(sql: string, params: readonly SQLInputValue[]): (readonly SQLOutputValue[])[] {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    return statement.all(...params) as unknown as (readonly SQLOutputValue[])[]
  }
}

/** Returns SQL for the value by which records are grouped. */
function groupKey({ name, type }: TypedField, dateLength: number): string {
  const column = quoted(name)
  if (type === 'date') return `substr(${column}, 1, ${dateLength})`
  return type === 'timestamp' ? `substr(date(${column}), 1, ${dateLength})` : column
}

/** SQL for the position of a column's values on the scale of its type. */
const ON_SCALE: Readonly<Record<ScaledType, (column: string) => string>> = {
  integer: (column) => column,
  number: (column) => column,
  date: (column) => `unixepoch(${column})`,
  timestamp: (column) => `unixepoch(${column}, 'subsec')`,
}
