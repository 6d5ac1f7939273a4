import { bothHold } from '../../condition.ts'
import type { PositionQuery } from '../../sheet-store.ts'
import { filteredRecords, rowsOf, type CheckedPage } from './run-page.ts'
import { heldColumns, sortColumn, sortColumns, sortedParts, sortValue } from './sort-sql.ts'
import type { PageRun } from './run-page.ts'
import { OID } from './sort-sql.ts'
import type { SqlSession } from './sql-session.ts'
import { confineFilter } from './cell-sql.ts'

/** A request for the position of a record in a list. */
export interface PositionRun extends Pick<PageRun, 'allFields' | 'filter' | 'where' | 'sort'> {
  readonly id: string
  readonly among?: PositionQuery['among']
}

/** The same with its filter checked. */
export type CheckedPosition = Omit<PositionRun, 'filter'> & Pick<CheckedPage, 'filter'>

/** Returns the number of records before one in a list; null when it is not in the list. */
export async function runPosition(session: SqlSession, run: CheckedPosition): Promise<number | null> {
  const where = bothHold(run.where ?? null, run.among ?? null)
  const wanted = { ...run, ofCells: await confineFilter(session, { ...run, where }) }
  // The list is not read along an index: all records before this one are counted.
  const sort = run.sort.map((term) => ({ ...term, index: null }))
  const keys = sort.map((_term, index) => `, ${sortColumn(index)}`).join('')
  const columns = ['"$seq"', ...heldColumns(sort)].join(', ')
  const [row] = await rowsOf(session, (param) => {
    const own = `SELECT "$row"."$seq"${sortColumns(sort)}, records.id AS "$id" FROM ${filteredRecords(wanted, param)}`
    return `SELECT ${columns} FROM (${own}) AS place WHERE "$id" = ${param({ text: run.id, type: OID.text })}`
  })
  if (row === undefined) return null
  const [key, ...values] = row
  const place = {
    key: Number(key),
    values: sort.map(({ field }, index) => sortValue(field, values[index] ?? null)),
  }
  const [after] = sortedParts(sort, place)
  if (after === undefined) throw new Error('a list without a part')
  const [counted] = await rowsOf(session, (param) => {
    const found = `SELECT "$row"."$seq"${sortColumns(sort)} FROM ${filteredRecords({ ...wanted, where }, param)}`
    const self = param({ text: String(place.key), type: OID.int8 })
    return `SELECT count(*) FROM (SELECT "$seq"${keys} FROM (${found}) AS "$all") AS "$found" WHERE NOT (${after.where(param)}) AND "$seq" <> ${self}`
  })
  return Number(counted?.[0])
}
