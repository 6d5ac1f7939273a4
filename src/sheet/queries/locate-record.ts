import { conditionedSheet } from './conditioned-sheet.ts'
import { refuseInPast, resolveAsOf } from './as-of.ts'
import type { Sheet } from '../sheet.ts'
import { pastListOf, pastOrder } from './past-order.ts'
import { sortKeys } from './sort-keys.ts'

export interface LocateQuery {
  readonly id: string
  /** The filter of the list, as in `listRecords`. */
  readonly filter: string | null
  readonly where: string | null
  readonly sort: readonly string[] | null
  /** A condition: only records that meet it as well are counted; null counts all. */
  readonly among?: string | null
  /** A seq or a time: the record among those that existed then. Null or absent is now. */
  readonly asOf?: string | null
}

/**
 * Returns the number of records that precede a record in a list; null when it is not in the list. Throws as
 * `listRecords` does for a bad filter, condition, order or time, and the signal's reason once it aborts.
 */
export async function locateRecord(
  sheet: Sheet,
  { id, filter, where, sort, among = null, asOf = null }: LocateQuery,
  signal?: AbortSignal,
): Promise<number | null> {
  if (asOf !== null) {
    refuseInPast({ filter, among })
    const current = await sheet.current()
    const list = pastListOf(current.contract, { where, sort })
    const seq = await resolveAsOf(current.store, asOf)
    const position = await current.store.positionAsOf(id, seq)
    const order = await pastOrder(current, { seq, ...list }, signal)
    if (position === null || order === null) return position
    const place = order.indexOf(position)
    return place < 0 ? null : place
  }
  const { contract, store, where: condition } = await conditionedSheet(sheet, where)
  const counted = await conditionedSheet(sheet, among, 'among')
  const list = { filter, where: condition, sort: sortKeys(contract, sort) }
  return store.position({ ...list, id, among: counted.where }, signal)
}
