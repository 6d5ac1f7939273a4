import { conditionedSheet } from './conditioned-sheet.ts'
import { refuseInPast, resolveAsOf } from './as-of.ts'
import type { Sheet } from '../sheet.ts'
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
    refuseInPast({ filter, where, sort, among })
    const { store: current } = await sheet.current()
    return current.positionAsOf(id, await resolveAsOf(current, asOf))
  }
  const { contract, store, where: condition } = await conditionedSheet(sheet, where)
  const counted = await conditionedSheet(sheet, among, 'among')
  const list = { filter, where: condition, sort: sortKeys(contract, sort) }
  return store.position({ ...list, id, among: counted.where }, signal)
}
