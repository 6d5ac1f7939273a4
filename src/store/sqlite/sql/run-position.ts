import { bothHold } from '../../condition.ts'
import { quoted } from '../database/schema.ts'
import { rowsOf } from './statement-rows.ts'
import { bindCondition } from './condition-sql.ts'
import { countRows, DATA, filteredRecords, withFilter, type PageRun } from './run-page.ts'
import { heldColumns, sortColumn, sortColumns, sortedParts } from './sort-sql.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { PositionQuery, SortValue } from '../../sheet-store.ts'

/** A request for the position of a record in a list. */
export interface PositionRun extends Pick<PageRun, 'allFields' | 'filter' | 'where' | 'sort'> {
  readonly id: string
  readonly among?: PositionQuery['among']
}

/** Returns how many records come before one in a list; null when it is not in the list. Throws QueryError. */
export function runPosition(database: SqlDatabase, run: PositionRun): number | null {
  const { id, allFields, where = null, among = null } = run
  // The list is not read along an index: all records before this one are counted.
  const sort = run.sort.map((term) => ({ ...term, indexed: false }))
  const both = { filter: run.filter, where: bothHold(where, among) }
  return withFilter(database, both, (wanted, cells) => {
    const inList = where === null ? null : bindCondition(where, DATA, (onCells) => cells.compile(onCells))
    const columns = `"$seq"${sortColumns(sort)}, ${allFields.map(({ name }) => quoted(name)).join(', ')}`
    const records = filteredRecords(columns, { ...wanted, where: inList })
    const keys = sort.map((_term, index) => `, ${sortColumn(index)}`).join('')
    const found = `SELECT "$seq"${keys}, id AS "$id" FROM ${records.sql}`
    const counted = filteredRecords(columns, wanted)
    const held = ['"$seq"', ...heldColumns(sort, 'place')].join(', ')
    const own = database.prepare(`SELECT ${held} FROM (${found}) AS place WHERE "$id" = ?`)
    const [row] = rowsOf(own, [...records.params, id])
    if (row === undefined) return null
    const [key, ...values] = row as readonly [number, ...SortValue[]]
    const [after] = sortedParts(sort, { key, values })
    if (after === undefined) throw new Error('a list without a part')
    const before = `SELECT 1 FROM (SELECT "$seq"${keys} FROM ${counted.sql}) WHERE NOT (${after.where}) AND "$seq" <> ?`
    return countRows(database, { sql: before, params: [...counted.params, ...after.params, key] })
  })
}
