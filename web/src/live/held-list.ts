import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { RecordListAnswer } from '../../../src/wire/records/records.ts'
import type { RecordSelection } from '../api/queries.ts'
import { readRecordsById } from '../api/records-by-id.ts'

/** The list whose records keep their places; null for none. */
let held: RecordSelection | null = null
const listeners = new Set<() => void>()

function set(list: RecordSelection | null): void {
  held = list
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Keeps the records of a list in their places, although changes of them belong elsewhere or no longer match. Their
 * values are still updated.
 */
export function holdList({ filter, sort }: RecordSelection): void {
  if (held === null || held.filter !== filter || held.sort !== sort) set({ filter, sort })
}

/** Reads the held list again, if there is one. */
export function releaseList(client: QueryClient): void {
  if (held === null) return
  const predicate = isHeldNow()
  set(null)
  void client.invalidateQueries({ queryKey: ['records'], predicate })
}

/** Whether a list is held. */
export function useIsHeld(): boolean {
  return useSyncExternalStore(subscribe, () => held !== null)
}

/** Returns a predicate of the queries of the list that is held now. */
export function isHeldNow(): (query: { readonly queryKey: QueryKey }) => boolean {
  const list = held
  return ({ queryKey: [first, kind, filter, sort] }) =>
    list !== null &&
    first === 'records' &&
    filter === list.filter &&
    (kind === 'count' || (kind === 'page' && sort === list.sort))
}

/** Reads the values of the held records that are in use; deleted ones keep theirs. Throws ApiError. */
export async function refreshHeld(client: QueryClient): Promise<void> {
  const pages = client
    .getQueryCache()
    .findAll({ queryKey: ['records', 'page'], type: 'active', predicate: isHeldNow() })
  for (const { queryKey } of pages) {
    const page = client.getQueryData<RecordListAnswer>(queryKey)
    const ids = page?.records.map(({ id }) => String(id)) ?? []
    const found = await readRecordsById(ids, null)
    const byId = new Map(found.map((record) => [record['id'], record]))
    client.setQueryData<RecordListAnswer>(queryKey, (now) =>
      now === undefined
        ? now
        : { ...now, records: now.records.map((record) => byId.get(record['id']) ?? record) },
    )
  }
}
