import type { SortValue } from '../../sheet-store.ts'
import { quoted } from '../schema.ts'
import type { TypedField } from './json-columns.ts'

/** A field to sort by. */
export interface SortTerm {
  readonly field: TypedField
  readonly descending: boolean
}

/** Texts are compared by so many characters, which is as much as a cursor has to hold of them. */
export const COMPARED_CHARACTERS = 512

/** The columns by which records are compared, named `$0`, `$1` and so on as no field can be; with the commas before them. */
export function sortColumns(terms: readonly SortTerm[]): string {
  return terms.map(({ field }, index) => `, ${compared(field)} AS ${sortColumn(index)}`).join('')
}

/** What ORDER BY takes: records without a value last, equal ones in creation order. */
export function sortOrder(terms: readonly SortTerm[]): string {
  const columns = terms.flatMap(({ descending }, index) => {
    const column = sortColumn(index)
    return [`${column} IS NULL`, descending ? `${column} DESC` : column]
  })
  return [...columns, '"$seq"'].join(', ')
}

/** The condition of being after a place in that order, and its parameters. */
export function sortedAfter(
  terms: readonly SortTerm[],
  { key, values }: { readonly key: number; readonly values: readonly SortValue[] },
): { readonly sql: string; readonly params: readonly (string | number)[] } {
  const params: (string | number)[] = []
  let close = ''
  let sql = ''
  for (const [index, { descending }] of terms.entries()) {
    const column = sortColumn(index)
    const value = values[index] ?? null
    if (value === null) {
      sql += `(${column} IS NULL AND `
      close += ')'
    } else {
      sql += `(${column} IS NULL OR ${column} ${descending ? '<' : '>'} ? OR (${column} = ? AND `
      close += '))'
      params.push(value, value)
    }
  }
  return { sql: `${sql}"$seq" > ?${close}`, params: [...params, key] }
}

export function sortColumn(index: number): string {
  return `"$${index}"`
}

/** Timestamps may have different offsets: what is compared is the moment, to the millisecond. */
function compared({ name, type }: TypedField): string {
  const column = quoted(name)
  if (type === 'string') return `substr(${column}, 1, ${COMPARED_CHARACTERS})`
  return type === 'timestamp' ? `unixepoch(${column}, 'subsec')` : column
}
