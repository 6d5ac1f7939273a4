import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { quoted } from '../schema.ts'
import type { TypedField } from '../values.ts'
import type { ColumnText, TypedParam } from './wire-query.ts'

/** A field to sort by. */
export interface SortTerm {
  readonly field: TypedField
  readonly descending: boolean
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
export function heldColumns(terms: readonly SortTerm[]): string[] {
  return terms.map(({ field }, index) => {
    const column = sortColumn(index)
    return field.type === 'string' ? `left(${column}, ${HELD_CHARACTERS})` : column
  })
}

/**
 * What ORDER BY takes: records without a value last, equal ones in creation order, or the other way round where the last
 * field goes from the greatest down.
 */
export function sortOrder(terms: readonly SortTerm[]): string {
  const columns = terms.map(
    ({ descending }, index) => `${sortColumn(index)} ${direction(descending)} NULLS LAST`,
  )
  return [...columns, `"$seq" ${direction(endsDescending(terms))}`].join(', ')
}

/** The condition of being after a place in that order; `param` puts a value into the statement. */
export function sortedAfter(
  terms: readonly SortTerm[],
  { key, values }: PagePlace,
  param: (value: TypedParam) => string,
): string {
  let sql = ''
  let close = ''
  for (const [index, { field, descending }] of terms.entries()) {
    const column = sortColumn(index)
    const value = values[index] ?? null
    if (value === null) sql += `(${column} IS NULL AND `
    else {
      const place = heldValue(field, { key, value }, param)
      sql += `(${column} IS NULL OR ${column} ${descending ? '<' : '>'} ${place} OR (${column} = ${place} AND `
    }
    close += value === null ? ')' : '))'
  }
  const seq = param({ text: String(key), type: OID.int8 })
  return `${sql}"$seq" ${endsDescending(terms) ? '<' : '>'} ${seq}${close}`
}

/** The value at a place, the whole of a text of which only the beginning is held. */
function heldValue(
  field: TypedField,
  { key, value }: { readonly key: number; readonly value: Exclude<SortValue, null> },
  param: (value: TypedParam) => string,
): string {
  const held = param(sortParam(field, value))
  if (field.type !== 'string' || String(value).length < HELD_CHARACTERS) return held
  const column = quoted(field.name)
  const seq = param({ text: String(key), type: OID.int8 })
  const whole = `SELECT ${column} FROM "$data" WHERE "$seq" = ${seq} AND left(${column}, ${HELD_CHARACTERS}) = ${held}`
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
  numeric: 1700,
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

/** Of timestamps the moment is compared, to the millisecond; of texts the bytes. */
function compared({ name, type }: TypedField): string {
  const column = quoted(name)
  switch (type) {
    case 'string':
    case 'time':
      return `${column} COLLATE "C"`
    case 'timestamp':
      return `round(extract(epoch FROM ${column}) * 1000)::bigint`
    case 'array':
    case 'object':
      return `${column}::text COLLATE "C"`
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
