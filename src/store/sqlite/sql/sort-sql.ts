import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { momentOf, quoted } from '../database/schema.ts'
import type { TypedField } from './json-columns.ts'

/** A field to sort by. */
export interface SortTerm {
  readonly field: TypedField
  readonly descending: boolean
  /** Whether the store has an index in this order. */
  readonly indexed: boolean
}

/** Part of a sorted list: the records that meet a condition, in an order. */
export interface SortedPart {
  /** Empty for all records. */
  readonly where: string
  readonly params: readonly (string | number)[]
  readonly orderBy: string
}

/**
 * How many characters of a text a place holds. What a longer one continues with is looked up in its record, should it
 * still be there; should it not, the texts that begin the same come once more.
 */
const HELD_CHARACTERS = 512

/** The columns by which records are compared, named `$0`, `$1` and so on as no field can be; with the commas before them. */
export function sortColumns(terms: readonly SortTerm[]): string {
  return terms.map(({ field }, index) => `, ${compared(field)} AS ${sortColumn(index)}`).join('')
}

/** What a place holds of these columns, in their order. */
export function heldColumns(terms: readonly SortTerm[], table: string): string[] {
  return terms.map(({ field }, index) => {
    const column = `${table}.${sortColumn(index)}`
    return field.type === 'string' ? `substr(${column}, 1, ${HELD_CHARACTERS})` : column
  })
}

/**
 * What ORDER BY takes: records without a value last, equal ones in creation order, or in reverse where the last field is
 * sorted from the greatest down. So an index is in this order from one end, and in the reverse from the other.
 */
export function sortOrder(terms: readonly SortTerm[], from = 0): string {
  const columns = terms.slice(from).flatMap(({ descending }, index) => {
    const column = sortColumn(from + index)
    return [`${column} IS NULL`, directed(column, descending)]
  })
  return [...columns, directed('"$seq"', endsDescending(terms))].join(', ')
}

/**
 * A sorted list from after a place on, or from its start, in parts that follow each other. An order that begins with an
 * indexed field is cut so that SQLite finds the start of each part in the index and walks on from there; of
 * any other the only part is the whole.
 */
export function sortedParts(terms: readonly SortTerm[], after: PagePlace | null): SortedPart[] {
  const [first] = terms
  if (first?.indexed !== true) {
    const { sql, params } = after === null ? { sql: '', params: [] } : isAfter(terms, after)
    return [{ where: sql, params, orderBy: sortOrder(terms) }]
  }
  const column = sortColumn(0)
  const rest = sortOrder(terms, 1)
  const orderBy = `${directed(column, first.descending)}, ${rest}`
  const none = { where: `${column} IS NULL`, params: [], orderBy: rest }
  if (after === null) return [{ where: `${column} IS NOT NULL`, params: [], orderBy }, none]
  const later = isAfter(terms, after, 1)
  const value = after.values[0] ?? null
  if (value === null)
    return [{ where: `${none.where} AND ${later.sql}`, params: later.params, orderBy: rest }]
  const held = heldValue(first.field, value, after.key)
  return [
    {
      where: `${column} = ${held.sql} AND ${later.sql}`,
      params: [...held.params, ...later.params],
      orderBy: rest,
    },
    { where: `${column} ${first.descending ? '<' : '>'} ${held.sql}`, params: held.params, orderBy },
    none,
  ]
}

export function sortColumn(index: number): string {
  return `"$${index}"`
}

interface BoundSql {
  readonly sql: string
  readonly params: readonly (string | number)[]
}

/** The condition of coming after a place by the fields from one on. */
function isAfter(terms: readonly SortTerm[], { key, values }: PagePlace, from = 0): BoundSql {
  const params: (string | number)[] = []
  let close = ''
  let sql = ''
  for (const [index, { field, descending }] of terms.entries()) {
    if (index < from) continue
    const column = sortColumn(index)
    const value = values[index] ?? null
    if (value === null) {
      sql += `(${column} IS NULL AND `
      close += ')'
    } else {
      const held = heldValue(field, value, key)
      sql += `(${column} IS NULL OR ${column} ${descending ? '<' : '>'} ${held.sql} OR (${column} = ${held.sql} AND `
      close += '))'
      params.push(...held.params, ...held.params)
    }
  }
  return { sql: `${sql}"$seq" ${endsDescending(terms) ? '<' : '>'} ?${close}`, params: [...params, key] }
}

/** The value at a place, the whole of a text of which only the beginning is held. */
function heldValue({ name }: TypedField, value: Exclude<SortValue, null>, key: number): BoundSql {
  if (typeof value !== 'string' || value.length < HELD_CHARACTERS) return { sql: '?', params: [value] }
  const column = quoted(name)
  const whole = `SELECT ${column} FROM "$data" WHERE "$seq" = ? AND substr(${column}, 1, ${HELD_CHARACTERS}) = ?`
  return { sql: `coalesce((${whole}), ?)`, params: [key, value, value] }
}

function directed(column: string, descending: boolean): string {
  return descending ? `${column} DESC` : column
}

function endsDescending(terms: readonly SortTerm[]): boolean {
  return terms.at(-1)?.descending === true
}

/** Timestamps may have different offsets: what is compared is the moment. */
function compared({ name, type }: TypedField): string {
  const column = quoted(name)
  return type === 'timestamp' ? momentOf(column) : column
}
