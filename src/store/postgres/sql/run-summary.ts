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
  type JsonBytes,
  type RecordGroup,
  type Summary,
  type SummaryQuery,
} from '../../sheet-store.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from '../database/columns.ts'
import { placeOf } from './condition-sql.ts'
import { filteredRecords, rowsOf, type Statement, type WantedRecords } from './run-page.ts'
import { OID, type PutParam } from './sort-sql.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'
import { confineFilter, countOfCells } from './cell-sql.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

/** A summary of the records that a filter from a user selects. */
export interface SummaryRun extends Omit<SummaryQuery, 'fields'> {
  readonly fields: readonly SummarizedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
}

/** A summary with its filter checked. */
export type CheckedSummary = Omit<SummaryRun, 'filter'> & { readonly filter: CheckedSql | null }

export interface SummarizedField extends TypedField {
  /** Whether every record has another value. */
  readonly primaryKey: boolean
}

/** Makes a {@link Summary} as JSON. */
export async function runSummary(session: SqlSession, run: CheckedSummary): Promise<JsonBytes> {
  if (run.fields.length === 0) {
    const count = await countOfCells(session, run)
    if (count !== null) return Buffer.from(JSON.stringify({ count, fields: {} } satisfies Summary))
  }
  const wanted = { ...run, ofCells: await confineFilter(session, run) }
  const split = run.split ? splitField(run.split, run.allFields) : null
  const summarizer = new Summarizer(session, wanted, { search: run.search ?? null, split })
  const { count, extents } = await summarizer.extents(run.fields)
  const fields: [string, FieldSummary][] = []
  for (const [index, field] of run.fields.entries()) {
    fields.push([field.name, await summarizer.field(field, count, extents[index] ?? NOTHING)])
  }
  const summary: Summary = {
    count,
    fields: Object.fromEntries(fields),
    ...(run.groups && { groups: await summarizer.groups(groupFields(run.groups, run.allFields)) }),
  }
  return Buffer.from(JSON.stringify(summary))
}

/** The number of values, and the least and the greatest on their scale; NaN for none. */
interface Extent {
  readonly values: number
  readonly least: number
  readonly greatest: number
}

const NOTHING: Extent = { values: 0, least: NaN, greatest: NaN }

class Summarizer {
  readonly #session: SqlSession
  readonly #records: WantedRecords
  readonly #search: string | null
  readonly #split: SplitField | null

  constructor(
    session: SqlSession,
    records: WantedRecords,
    { search, split }: { readonly search: string | null; readonly split: SplitField | null },
  ) {
    this.#session = session
    this.#split = split
    this.#records = records
    this.#search = search
  }

  /** Returns the number of records, and the extent of each field, in one pass. */
  async extents(
    fields: readonly TypedField[],
  ): Promise<{ readonly count: number; readonly extents: readonly Extent[] }> {
    const columns = fields.flatMap(({ name, type }) => {
      const column = quoted(name)
      const scaled = isScaled(type) ? ON_SCALE[type](column) : 'NULL::float8'
      return [`count(${column})`, `min(${scaled})`, `max(${scaled})`]
    })
    const [row = []] = await this.#rows(
      (param) => `SELECT ${['count(*)', ...columns].join(', ')} ${this.#from(param)}`,
    )
    const [count = 0, ...numbers] = row.map((text) => (text === null ? NaN : Number(text)))
    const extents = fields.map((_field, index) => {
      const [values = 0, least = NaN, greatest = NaN] = numbers.slice(3 * index, 3 * index + 3)
      return { values, least, greatest }
    })
    return { count, extents }
  }

  /** Counts the records by their values. */
  async groups(fields: GroupFields): Promise<readonly RecordGroup[]> {
    const { by, split, totals, dateLength } = fields
    const fieldsOfKeys = [by, ...(split === null ? [] : [split])]
    const keys = fieldsOfKeys.map((field) => groupKey(field, dateLength))
    const sums = totals.map(({ name }) => `coalesce(sum(${quoted(name)}::float8), 0)`)
    const places = keys.map((_key, index) => index + 1).join(', ')
    const short = fieldsOfKeys
      .filter(({ type }) => type === 'string')
      .map((field) => `coalesce(char_length(${groupKey(field, dateLength)}), 0) <= ${LONGEST_VALUE}`)
    const order = keys.map((_key, index) => `${index + 1} NULLS FIRST`).join(', ')
    const having = short.length === 0 ? '' : `HAVING ${short.join(' AND ')}`
    const rows = await this.#rows(
      (param) =>
        `SELECT ${[...keys, 'count(*) AS "$count"', ...sums].join(', ')} ${this.#from(param)}
          GROUP BY ${places} ${having} ORDER BY "$count" DESC, ${order} LIMIT ${MAX_GROUPS}`,
    )
    return rows.map((row) => toGroup(fields, row))
  }

  /** Summarizes a field of `count` records. */
  async field(
    { name, type, primaryKey }: SummarizedField,
    count: number,
    extent: Extent,
  ): Promise<FieldSummary> {
    const column = quoted(name)
    const nulls = count - extent.values
    if (extent.values === 0 || type === 'object') return { nulls }
    if (primaryKey) return { nulls, distinct: count }
    switch (type) {
      case 'integer':
      case 'number':
      case 'date':
      case 'timestamp':
        return { nulls, ...(await this.#spread(column, type, extent)) }
      case 'string':
      case 'time':
        return {
          nulls,
          ...(await this.#frequent(this.#valuesOf(`${column} COLLATE "C"`), { show: (text) => text })),
        }
      case 'boolean':
        return {
          nulls,
          ...(await this.#frequent(this.#valuesOf(`${column}::text COLLATE "C"`), {
            show: (text) => text === 'true',
          })),
        }
      case 'array':
        return {
          nulls,
          ...(await this.#frequent(this.#items(column), {
            show: (text) => JSON.parse(text) as JsonValue,
            text: `("$value"::jsonb #>> '{}') COLLATE "C"`,
          })),
        }
    }
  }

  async #spread(
    column: string,
    type: ScaledType,
    { least, greatest }: Extent,
  ): Promise<{ readonly histogram?: Histogram }> {
    const scaled = ON_SCALE[type](column)
    const ranges = rangesOf(type, least, greatest)
    if (ranges === null) return {}
    // The smallest distances are in the first range: PostgreSQL cannot divide them.
    const range: Statement = (param) => {
      const [from, width, last] = [least, ranges.step, ranges.count - 1].map((value) => param(float(value)))
      const distance = `(${scaled} - ${from})`
      return `CASE WHEN ${distance} < ${width} THEN 0 WHEN ${distance} >= ${width} THEN least(trunc(${distance} / ${width}), ${last})::int END`
    }
    const rows = await this.#rows(
      (param) => `SELECT ${range(param)} AS "$range", count(*) ${this.#from(param)} GROUP BY "$range"`,
    )
    const histogram = ranges.histogram(rows)
    if (this.#split === null) return { histogram }
    const splits = await this.#rows(this.#splitCounts(range, this.#split))
    return { histogram: { ...histogram, splits: toSplits(this.#split, splits, ranges.count) } }
  }

  /** Returns a statement for the range, the value of the second field, and the count, of its most frequent values. */
  #splitCounts(range: Statement, { field, dateLength }: SplitField): Statement {
    const short = field.type === 'string' ? `AND coalesce(char_length("$split"), 0) <= ${LONGEST_VALUE}` : ''
    return (param) => `
      WITH "$counted" AS MATERIALIZED (
        SELECT ${range(param)} AS "$range", ${groupKey(field, dateLength)} AS "$split", count(*) AS "$count" ${this.#from(param)} GROUP BY 1, 2),
      "$largest" AS (
        SELECT "$split" AS "$value", sum("$count") AS "$all" FROM "$counted"
        WHERE "$range" IS NOT NULL ${short} GROUP BY 1 ORDER BY "$all" DESC, 1 NULLS FIRST LIMIT ${MAX_SPLITS})
      SELECT "$range", "$split", "$count" FROM "$largest" JOIN "$counted" ON "$split" IS NOT DISTINCT FROM "$value"
      WHERE "$range" IS NOT NULL ORDER BY "$all" DESC, "$value" NULLS FIRST`
  }

  /**
   * Counts values and lists the most frequent. `values` is a SELECT of one column, `$value`, of texts with the collation
   * "C"; `text` is SQL for the text of a value that is searched.
   */
  async #frequent(
    values: Statement,
    { show, text = '"$value"' }: { readonly show: (text: string) => JsonValue; readonly text?: string },
  ): Promise<Pick<FieldSummary, 'distinct' | 'top'>> {
    const rows = await this.#rows((param) => {
      const counted = `SELECT "$value", count(*) AS "$count" FROM (${values(param)}) AS "$values" WHERE "$value" IS NOT NULL GROUP BY "$value"`
      return `
        WITH "$counted" AS MATERIALIZED (${counted})
        SELECT NULL, count(*) FROM "$counted"
        UNION ALL (${this.#listed(text, param)})`
    })
    const [all, ...top] = rows.map(([value, count]) => ({ value: value ?? null, count: Number(count) }))
    return {
      distinct: all?.count ?? 0,
      top: top.map(({ value, count }) => ({ value: show(value ?? ''), count })),
    }
  }

  /** Returns SQL for the listed values of `$counted`. */
  #listed(text: string, param: PutParam): string {
    const short = `char_length("$value") <= ${LONGEST_VALUE}`
    const ranked = `"$count" DESC, "$value" COLLATE "C"`
    if (this.#search === null)
      return `SELECT "$value", "$count" FROM "$counted" WHERE ${short} ORDER BY ${ranked} LIMIT ${TOP}`
    const place = placeOf(text, this.#search, param)
    return `SELECT "$value", "$count" FROM (SELECT *, ${place} AS "$place" FROM "$counted" WHERE ${short}) AS "$found"
      WHERE "$place" > 0 ORDER BY "$place" > 1, ${ranked} LIMIT ${MAX_FOUND_VALUES}`
  }

  #valuesOf(expression: string): Statement {
    return (param) => `SELECT ${expression} AS "$value" ${this.#from(param)}`
  }

  /** Returns a statement for the items of arrays, as JSON text. */
  #items(column: string): Statement {
    return (param) => {
      const arrays = `SELECT ${column} AS "$items" ${this.#from(param)}`
      return `SELECT "$item"::text COLLATE "C" AS "$value"
        FROM (${arrays}) AS "$arrays", jsonb_array_elements(CASE jsonb_typeof("$items") WHEN 'array' THEN "$items" END) AS "$each" ("$item")
        WHERE jsonb_typeof("$item") <> 'null'`
    }
  }

  /** Returns `FROM …`, in which the fields can be named. */
  #from(param: PutParam): string {
    return `FROM ${filteredRecords(this.#records, param)}`
  }

  #rows(statement: Statement): Promise<(readonly ColumnText[])[]> {
    return rowsOf(this.#session, statement)
  }
}

/** Returns SQL for the text by which records are grouped. */
function groupKey({ name, type }: TypedField, dateLength: number): string {
  const column = quoted(name)
  if (type === 'timestamp') return `left(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD'), ${dateLength})`
  if (type === 'date') return `left(to_char(${column}, 'YYYY-MM-DD'), ${dateLength})`
  // Numbers keep their order.
  return type === 'integer' || type === 'number' ? column : `${column}::text COLLATE "C"`
}

function float(value: number): TypedParam {
  return { text: String(value), type: OID.float8 }
}

/** SQL for the position of a column's values on the scale of its type, a double. */
const ON_SCALE: Readonly<Record<ScaledType, (column: string) => string>> = {
  integer: (column) => `${column}::float8`,
  number: (column) => `${column}::float8`,
  date: (column) => `extract(epoch FROM ${column})::float8`,
  // To the millisecond.
  timestamp: (column) => `(round(extract(epoch FROM ${column}) * 1000)::float8 / 1000)`,
}

function isScaled(type: TypedField['type']): type is ScaledType {
  return type in ON_SCALE
}
