import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { momentOf, type SortIndex } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from '../database/columns.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

export interface SortTerm {
  readonly field: TypedField
  readonly descending: boolean
  /** The store's index in this order; null for none. */
  readonly index: SortIndex | null
}

/** Part of a sorted list: the records that meet a condition. */
export interface SortedPart {
  /** Returns the condition, empty for all records; `param` puts a value into the statement. */
  where(param: PutParam): string
  /** Whether some of its texts are too long for the index. */
  readonly divided: boolean
}

/** Puts a value into a statement, and returns its placeholder. */
export type PutParam = (value: TypedParam) => string

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
export function heldColumns(terms: readonly SortTerm[]): string[] {
  return terms.map(({ field }, index) => {
    const column = sortColumn(index)
    return field.type === 'string' ? `left(${column}, ${HELD_CHARACTERS})` : column
  })
}

/**
 * Returns the terms of ORDER BY: records without a value last, equal ones in the order of creation, or in its reverse where
 * the last field is descending. So an index has this order in one direction, and its reverse in the other. `rank` is a
 * column that orders records which are equal in the first field.
 */
export function sortOrder(terms: readonly SortTerm[], rank?: string): string {
  const columns = terms.map(({ descending, index }, place) => {
    const ordered = `${sortColumn(place)} ${direction(descending)}`
    // The records without a value are a part of their own then: the index has them at the end from which it is read.
    return place === 0 && index !== null ? ordered : `${ordered} NULLS LAST`
  })
  if (rank !== undefined) columns.splice(1, 0, rank)
  return [...columns, `"$seq" ${direction(endsDescending(terms))}`].join(', ')
}

/**
 * Returns a sorted list, after a place or from its start, in consecutive parts. An order that begins with an indexed field
 * is divided so that PostgreSQL finds the start of each part in the index; any other order is one part.
 */
export function sortedParts(terms: readonly SortTerm[], after: PagePlace | null): SortedPart[] {
  const [first] = terms
  if (first === undefined || first.index === null) {
    return [{ where: (param) => (after === null ? '' : isAfter(terms, after, param)), divided: false }]
  }
  const column = sortColumn(0)
  const divided = first.index === 'divided'
  const none: SortedPart = { where: () => `${column} IS NULL`, divided: false }
  if (after === null) return [{ where: () => `${column} IS NOT NULL`, divided }, none]
  const { key, values } = after
  const value = values[0] ?? null
  if (value === null) {
    return [{ where: (param) => `${column} IS NULL AND ${isAfter(terms, after, param, 1)}`, divided: false }]
  }
  const beyond = first.descending ? '<' : '>'
  const place = (param: PutParam): string => heldValue(first.field, { key, value }, param)
  if (terms.length === 1) {
    const where = (param: PutParam): string =>
      `(${column}, "$seq") ${beyond} (${place(param)}, ${keyParam(key, param)})`
    return [{ where, divided }, none]
  }
  return [
    { where: (param) => `${column} = ${place(param)} AND ${isAfter(terms, after, param, 1)}`, divided },
    { where: (param) => `${column} ${beyond} ${place(param)}`, divided },
    none,
  ]
}

/** Returns the condition that a record comes after a place, by the fields from `from` on. */
function isAfter(terms: readonly SortTerm[], { key, values }: PagePlace, param: PutParam, from = 0): string {
  let sql = ''
  let close = ''
  for (const [index, { field, descending }] of terms.entries()) {
    if (index < from) continue
    const column = sortColumn(index)
    const value = values[index] ?? null
    if (value === null) sql += `(${column} IS NULL AND `
    else {
      const place = heldValue(field, { key, value }, param)
      sql += `(${column} IS NULL OR ${column} ${descending ? '<' : '>'} ${place} OR (${column} = ${place} AND `
    }
    close += value === null ? ')' : '))'
  }
  return `${sql}"$seq" ${endsDescending(terms) ? '<' : '>'} ${keyParam(key, param)}${close}`
}

function keyParam(key: number, param: PutParam): string {
  return param({ text: String(key), type: OID.int8 })
}

/** Returns SQL for the value at a place: of a text of which only the beginning is held, the whole. */
function heldValue(
  field: TypedField,
  { key, value }: { readonly key: number; readonly value: Exclude<SortValue, null> },
  param: PutParam,
): string {
  const held = param(sortParam(field, value))
  if (field.type !== 'string' || String(value).length < HELD_CHARACTERS) return held
  const column = quoted(field.name)
  const whole = `SELECT ${column} FROM "$data" WHERE "$seq" = ${keyParam(key, param)} AND left(${column}, ${HELD_CHARACTERS}) = ${held}`
  return `(coalesce((${whole}), ${held}) COLLATE "C")`
}

/** Returns the value that a place holds of a column by which records are compared. */
export function sortValue({ type }: TypedField, text: ColumnText): SortValue {
  if (text === null) return null
  return type === 'integer' || type === 'timestamp' ? Number(text) : text
}

export function sortColumn(index: number): string {
  return `"$${index}"`
}

/** OIDs of the types of parameters (pg_type.oid). */
export const OID = {
  boolean: 16,
  int8: 20,
  int4: 23,
  text: 25,
  float8: 701,
  int8s: 1016,
  date: 1082,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const

function sortParam({ type }: TypedField, value: Exclude<SortValue, null>): TypedParam {
  const types: Readonly<Record<TypedField['type'], number>> = {
    string: OID.text,
    time: OID.text,
    array: OID.text,
    object: OID.text,
    integer: OID.int8,
    timestamp: OID.int8,
    number: OID.numeric,
    boolean: OID.boolean,
    date: OID.date,
  }
  return { text: String(value), type: types[type] }
}

/**
 * Returns the SQL by which a field is compared: timestamps by their time to the millisecond, texts by their bytes, as in
 * their columns.
 */
function compared({ name, type }: TypedField): string {
  const column = quoted(name)
  switch (type) {
    case 'timestamp':
      return momentOf(column)
    case 'array':
    case 'object':
      return `${column}::text COLLATE "C"`
    case 'string':
    case 'time':
    case 'integer':
    case 'number':
    case 'boolean':
    case 'date':
      return column
  }
}

function direction(descending: boolean): 'ASC' | 'DESC' {
  return descending ? 'DESC' : 'ASC'
}

function endsDescending(terms: readonly SortTerm[]): boolean {
  return terms.at(-1)?.descending ?? false
}
