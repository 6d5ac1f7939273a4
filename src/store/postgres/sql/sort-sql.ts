import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { momentOf, type SortIndex } from '../database/field-indexes.ts'
import { quoted } from '../database/schema.ts'
import type { TypedField } from '../database/values.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

/** A field to sort by. */
export interface SortTerm {
  readonly field: TypedField
  readonly descending: boolean
  /** The index that the store has in this order; null for none. */
  readonly index: SortIndex | null
}

/** Part of a sorted list: the records that meet a condition. */
export interface SortedPart {
  /** Empty for all records; `param` puts a value into the statement. */
  where(param: PutParam): string
  /** Whether it has texts of which some are not along the index. */
  readonly divided: boolean
}

/** Puts a value into a statement, and answers with what stands for it there. */
export type PutParam = (value: TypedParam) => string

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
export function heldColumns(terms: readonly SortTerm[]): string[] {
  return terms.map(({ field }, index) => {
    const column = sortColumn(index)
    return field.type === 'string' ? `left(${column}, ${HELD_CHARACTERS})` : column
  })
}

/**
 * What ORDER BY takes: records without a value last, equal ones in creation order, or the other way round where the last
 * field goes from the greatest down. So an index is in this order from one end, and in the reverse from the other. `rank` is a
 * column that decides among records that seem to be equal in the first field.
 */
export function sortOrder(terms: readonly SortTerm[], rank?: string): string {
  const columns = terms.map(({ descending, index }, place) => {
    const ordered = `${sortColumn(place)} ${direction(descending)}`
    // The records without a value are a part of their own then; the index has them at the end of which it is read first.
    return place === 0 && index !== null ? ordered : `${ordered} NULLS LAST`
  })
  if (rank !== undefined) columns.splice(1, 0, rank)
  return [...columns, `"$seq" ${direction(endsDescending(terms))}`].join(', ')
}

/**
 * A sorted list from after a place on, or from its start, in parts that follow each other. An order that begins with an
 * indexed field is cut so that PostgreSQL finds the start of each part in the index and walks on from there; of any other
 * the only part is the whole.
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

/** The condition of coming after a place by the fields from one on. */
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

/** The value at a place, the whole of a text of which only the beginning is held. */
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

/** What a place has of a column that a record is compared by. */
export function sortValue({ type }: TypedField, text: ColumnText): SortValue {
  if (text === null) return null
  return type === 'integer' || type === 'timestamp' ? Number(text) : text
}

export function sortColumn(index: number): string {
  return `"$${index}"`
}

/** Numbers of the types of parameters (pg_type.oid). */
export const OID = {
  boolean: 16,
  int8: 20,
  int4: 23,
  text: 25,
  float8: 701,
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

/** Of timestamps the moment is compared, to the millisecond; of texts the bytes, as their columns have it. */
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
