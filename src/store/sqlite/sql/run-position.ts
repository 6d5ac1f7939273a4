import { quoted } from '../database/schema.ts'
import { rowsOf } from './statement-rows.ts'
import { countRows, filteredRecords, withFilter, type PageRun } from './run-page.ts'
import { heldColumns, sortColumn, sortColumns, sortedParts } from './sort-sql.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SortValue } from '../../sheet-store.ts'

/** A request for the position of a record in a list. */
export type PositionRun = Pick<PageRun, 'allFields' | 'filter' | 'where' | 'sort'> & { readonly id: string }

/** Returns the number of records before one in a list; null when it is not in the list. Throws QueryError. */
export function runPosition(database: SqlDatabase, run: PositionRun): number | null {
  const { id, allFields } = run
  // The list is not read along an index: all records before this one are counted.
  const sort = run.sort.map((term) => ({ ...term, indexed: false }))
  return withFilter(database, run, (wanted) => {
    const columns = `"$seq"${sortColumns(sort)}, ${allFields.map(({ name }) => quoted(name)).join(', ')}`
    const records = filteredRecords(columns, wanted)
    const keys = sort.map((_term, index) => `, ${sortColumn(index)}`).join('')
    const found = `SELECT "$seq"${keys}, id AS "$id" FROM ${records.sql}`
    const held = ['"$seq"', ...heldColumns(sort, 'place')].join(', ')
    const own = database.prepare(`SELECT ${held} FROM (${found}) AS place WHERE "$id" = ?`)
    const [row] = rowsOf(own, [...records.params, id])
    if (row === undefined) return null
    const [key, ...values] = row as readonly [number, ...SortValue[]]
    const [after] = sortedParts(sort, { key, values })
    if (after === undefined) throw new Error('a list without a part')
    const upTo = `SELECT 1 FROM (${found}) WHERE NOT (${after.where})`
    return countRows(database, { sql: upTo, params: [...records.params, ...after.params] }) - 1
  })
}
