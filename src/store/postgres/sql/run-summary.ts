import type { JsonValue } from '../../../contract/json.ts'
import type { FieldSummary, Histogram, JsonBytes, Summary } from '../../sheet-store.ts'
import { quoted } from '../schema.ts'
import type { TypedField } from '../values.ts'
import { filteredRecords } from './run-page.ts'
import { OID } from './sort-sql.ts'
import type { CheckedSql } from './sql-checks.ts'
import type { SqlSession } from './sql-session.ts'
import type { TypedParam } from './wire-query.ts'

/** A summary of the records that a filter from a user lets through. */
export interface SummaryRun {
  /** The fields to summarize. */
  readonly fields: readonly SummarizedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  /** Null for all records. */
  readonly filter: string | null
}

/** The same with its filter checked. */
export type CheckedSummary = Omit<SummaryRun, 'filter'> & { readonly filter: CheckedSql | null }

export interface SummarizedField extends TypedField {
  /** Every record has another value. */
  readonly primaryKey: boolean
}

const RANGES = 20
const TOP = 10

/** Texts longer than this are no values that one would pick from a list. */
const LONGEST_VALUE = 200

/** Makes a {@link Summary} as JSON. */
export async function runSummary(session: SqlSession, run: CheckedSummary): Promise<JsonBytes> {
  await session.confine(run.filter?.names ?? null)
  const summarizer = new Summarizer(session, `FROM ${filteredRecords(run.allFields, run.filter)}`)
  const { count, extents } = await summarizer.extents(run.fields)
  const fields: [string, FieldSummary][] = []
  for (const [index, field] of run.fields.entries()) {
    fields.push([field.name, await summarizer.field(field, count, extents[index] ?? NOTHING)])
  }
  const summary: Summary = { count, fields: Object.fromEntries(fields) }
  return Buffer.from(JSON.stringify(summary))
}

/** How many values there are, and between which places on their scale; NaN where there is none. */
interface Extent {
  readonly values: number
  readonly least: number
  readonly greatest: number
}

const NOTHING: Extent = { values: 0, least: NaN, greatest: NaN }

class Summarizer {
  readonly #session: SqlSession
  /** `FROM …`, in which the fields can be named. */
  readonly #from: string

  constructor(session: SqlSession, from: string) {
    this.#session = session
    this.#from = from
  }

  /** How many records there are, and what each field has at most; in one go through them. */
  async extents(
    fields: readonly TypedField[],
  ): Promise<{ readonly count: number; readonly extents: readonly Extent[] }> {
    const columns = fields.flatMap(({ name, type }) => {
      const column = quoted(name)
      const scaled = scaleOf(type)?.onScale(column) ?? 'NULL::float8'
      return [`count(${column})`, `min(${scaled})`, `max(${scaled})`]
    })
    const [row = []] = await this.#session.rows(`SELECT ${['count(*)', ...columns].join(', ')} ${this.#from}`)
    const [count = 0, ...numbers] = row.map((text) => (text === null ? NaN : Number(text)))
    const extents = fields.map((_field, index) => {
      const [values = 0, least = NaN, greatest = NaN] = numbers.slice(3 * index, 3 * index + 3)
      return { values, least, greatest }
    })
    return { count, extents }
  }

  /** Of so many records. */
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
        return { nulls, ...(await this.#spread(column, SCALES[type], extent)) }
      case 'string':
      case 'time':
        return { nulls, ...(await this.#frequent(this.#valuesOf(`${column} COLLATE "C"`), (text) => text)) }
      case 'boolean':
        return {
          nulls,
          ...(await this.#frequent(this.#valuesOf(`${column}::text`), (text) => text === 'true')),
        }
      case 'array':
        return {
          nulls,
          ...(await this.#frequent(this.#items(column), (text) => JSON.parse(text) as JsonValue)),
        }
    }
  }

  async #spread(
    column: string,
    { onScale, unit, perStep, show }: Scale,
    { least, greatest }: Extent,
  ): Promise<{ readonly histogram?: Histogram }> {
    const scaled = onScale(column)
    const { step, ranges } = divide(greatest - least, unit)
    if (!Number.isFinite(step)) return {}
    // What is next to nothing is in the first range: PostgreSQL has no quotient for it.
    const distance = `(${scaled} - $1)`
    const rows = await this.#session.rows(
      `SELECT CASE WHEN ${distance} < $2 THEN 0 WHEN ${distance} >= $2 THEN least(trunc(${distance} / $2), $3)::int END AS "$range", count(*)
        ${this.#from} GROUP BY "$range"`,
      [least, step, ranges - 1].map(float),
    )
    const counts = Array<number>(ranges).fill(0)
    for (const [range = null, number = null] of rows) {
      if (range !== null) counts[Number(range)] = Number(number)
    }
    return { histogram: { from: show(least), to: show(greatest), step: step / perStep, counts } }
  }

  /** `values` is a SELECT of one column, `$value`, of texts. */
  async #frequent(
    values: string,
    show: (text: string) => JsonValue,
  ): Promise<Pick<FieldSummary, 'distinct' | 'top'>> {
    const counted = `SELECT "$value", count(*) AS "$count" FROM (${values}) AS "$values" WHERE "$value" IS NOT NULL GROUP BY "$value"`
    const rows = await this.#session.rows(`
      WITH "$counted" AS MATERIALIZED (${counted})
      SELECT NULL, count(*) FROM "$counted"
      UNION ALL (SELECT "$value", "$count" FROM "$counted" WHERE char_length("$value") <= ${LONGEST_VALUE}
        ORDER BY "$count" DESC, "$value" COLLATE "C" LIMIT ${TOP})`)
    const [all, ...top] = rows.map(([text, count]) => ({ text: text ?? null, count: Number(count) }))
    return {
      distinct: all?.count ?? 0,
      top: top.map(({ text, count }) => ({ value: show(text ?? ''), count })),
    }
  }

  #valuesOf(expression: string): string {
    return `SELECT ${expression} AS "$value" ${this.#from}`
  }

  /** The items of arrays, as JSON text. */
  #items(column: string): string {
    const arrays = `SELECT ${column} AS "$items" ${this.#from}`
    return `SELECT "$item"::text COLLATE "C" AS "$value"
      FROM (${arrays}) AS "$arrays", jsonb_array_elements(CASE jsonb_typeof("$items") WHEN 'array' THEN "$items" END) AS "$each" ("$item")
      WHERE jsonb_typeof("$item") <> 'null'`
  }
}

function float(value: number): TypedParam {
  return { text: String(value), type: OID.float8 }
}

/** How values of a type are measured. */
interface Scale {
  /** SQL for the place on the scale, a double. */
  onScale(column: string): string
  /** The distance of neighbours; 0 where there is always one between. */
  readonly unit: number
  /** What a step is told in. */
  readonly perStep: number
  show(place: number): string | number
}

const DAY = 86_400

const SCALES: Readonly<Record<'integer' | 'number' | 'date' | 'timestamp', Scale>> = {
  integer: { onScale: (column) => `${column}::float8`, unit: 1, perStep: 1, show: (value) => value },
  number: { onScale: (column) => `${column}::float8`, unit: 0, perStep: 1, show: (value) => value },
  date: {
    onScale: (column) => `extract(epoch FROM ${column})::float8`,
    unit: DAY,
    perStep: DAY,
    show: (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10),
  },
  timestamp: {
    // To the millisecond.
    onScale: (column) => `(round(extract(epoch FROM ${column}) * 1000)::float8 / 1000)`,
    unit: 0,
    perStep: 1,
    show: (seconds) => new Date(Math.round(seconds * 1000)).toISOString(),
  },
}

function scaleOf(type: TypedField['type']): Scale | undefined {
  return type in SCALES ? SCALES[type as keyof typeof SCALES] : undefined
}

/** Ranges of whole units, so that each can hold as many values as the others; a few values have a range each. */
function divide(width: number, unit: number): { readonly step: number; readonly ranges: number } {
  if (unit === 0) return width === 0 ? { step: 1, ranges: 1 } : { step: width / RANGES || 1, ranges: RANGES }
  const values = width / unit + 1
  const perRange = Math.ceil(values / RANGES)
  return { step: perRange * unit, ranges: Math.ceil(values / perRange) }
}
