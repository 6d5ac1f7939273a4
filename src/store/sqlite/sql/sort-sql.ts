import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { momentOf, quoted } from '../database/schema.ts'
import type { TypedField } from './json-columns.ts'

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
 * Characters of a text that a place holds. The rest of a longer text is looked up in its record; if that was deleted, texts
 * with the same beginning appear a second time.
 */
const HELD_CHARACTERS = 512

/** Returns the columns by which records are compared, named `$0`, `$1` and so on as no field can be; each after a comma. */
export function sortColumns(terms: readonly SortTerm[]): string {
  return terms.map(({ field }, index) => `, ${compared(field)} AS ${sortColumn(index)}`).join('')
}

/** Returns the values of these columns that a place holds, in their order. */
export function heldColumns(terms: readonly SortTerm[], table: string): string[] {
  return terms.map(({ field }, index) => {
    const column = `${table}.${sortColumn(index)}`
    return field.type === 'string' ? `substr(${column}, 1, ${HELD_CHARACTERS})` : column
  })
}

/**
 * Returns the terms of ORDER BY: records without a value last, equal ones in creation order, or in its reverse where the
 * last field is descending. So an index has this order in one direction, and its reverse in the other.
 */
export function sortOrder(terms: readonly SortTerm[], from = 0): string {
  const columns = terms.slice(from).flatMap(({ descending }, index) => {
    const column = sortColumn(from + index)
    return [`${column} IS NULL`, directed(column, descending)]
  })
  return [...columns, directed('"$seq"', endsDescending(terms))].join(', ')
}

/**
 * Returns a sorted list, after a place or from its start, in consecutive parts. An order that begins with an indexed field
 * is divided so that SQLite finds the start of each part in the index; any other order is one part.
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

/** Returns the condition that a record comes after a place, by the fields from `from` on. */
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

/** Returns SQL for the value at a place: of a text of which only the beginning is held, the whole. */
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

/** Returns the SQL by which a field is compared: timestamps, which may have different offsets, by their time. */
function compared({ name, type }: TypedField): string {
  const column = quoted(name)
  return type === 'timestamp' ? momentOf(column) : column
}
