import { conditionedSheet } from './conditioned-sheet.ts'
import type { Sheet } from '../sheet.ts'
import { sortKeys } from './sort-keys.ts'

export interface LocateQuery {
  readonly id: string
  /** The filter of the list, as in `listRecords`. */
  readonly filter: string | null
  readonly where: string | null
  readonly sort: readonly string[] | null
}

/**
 * Returns the number of records that precede a record in a list; null when it is not in the list. Throws as
 * `listRecords` does for a bad filter, condition or order, and the signal's reason once it aborts.
 */
export async function locateRecord(
  sheet: Sheet,
  { id, filter, where, sort }: LocateQuery,
  signal?: AbortSignal,
): Promise<number | null> {
  const { contract, store, where: condition } = await conditionedSheet(sheet, where)
  return store.position({ filter, where: condition, sort: sortKeys(contract, sort), id }, signal)
}
