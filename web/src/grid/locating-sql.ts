import type { RecordSelection } from '../api/queries.ts'
import { parseSort, type SortTerm } from './sort-order.ts'

/**
 * The statement that tells in `row` how many records come before the one whose id is its parameter; of a sorted list,
 * how many come before the first that is equal to it in what is sorted by.
 */
export function locatingSql({ filter, sort }: RecordSelection): string {
  const terms = parseSort(sort)
  const condition = filter === null ? '1' : `(\n${filter}\n)`
  if (terms.length === 0) {
    return `SELECT place - 1 AS "row" FROM (
      SELECT id AS key, row_number() OVER () AS place FROM records WHERE ${condition}) WHERE key = ? LIMIT 1`
  }
  const keys = terms.map(({ field }, index) => `${column(field)} AS "$${index}"`).join(', ')
  return `SELECT count(*) AS "row" FROM records, (SELECT ${keys} FROM records WHERE id = ?) AS "$own"
    WHERE ${condition} AND (${comesBefore(terms, 0)})`
}

/** Records without a value come last, in either direction. */
function comesBefore(terms: readonly SortTerm[], index: number): string {
  const term = terms[index]
  if (term === undefined) return '0'
  const [theirs, own] = [`records.${column(term.field)}`, `"$${index}"`]
  const isBefore = `${theirs} IS NOT NULL AND (${own} IS NULL OR ${theirs} ${term.descending ? '>' : '<'} ${own})`
  return `(${isBefore}) OR (${theirs} IS ${own} AND (${comesBefore(terms, index + 1)}))`
}

function column(field: string): string {
  return `"${field.replaceAll('"', '""')}"`
}
