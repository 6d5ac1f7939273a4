import { readCondition } from './read-condition.ts'
import type { Sheet } from '../sheet.ts'
import { sortKeys } from './sort-keys.ts'

export interface LocateQuery {
  readonly id: string
  /** Which list, as in `listRecords`. */
  readonly filter: string | null
  readonly where: string | null
  readonly sort: readonly string[] | null
}

/**
 * How many records of a list come before one; null when it is not in the list. Throws as `listRecords` does for a bad
 * filter, condition or order, and the signal's reason once it aborts.
 */
export async function locateRecord(
  sheet: Sheet,
  { id, filter, where, sort }: LocateQuery,
  signal?: AbortSignal,
): Promise<number | null> {
  const { contract, store } = await sheet.current()
  const list = { filter, where: readCondition(contract, where), sort: sortKeys(contract, sort) }
  return store.position({ ...list, id }, signal)
}
