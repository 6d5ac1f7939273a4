import type { QueryClient } from '@tanstack/react-query'
import { filterParameters } from '../../api/record-filter.ts'
import { server } from '../../api/server.ts'
import { pageQuery, pageSizeOf, type RecordSelection } from '../../api/queries.ts'

/**
 * Returns the row of a record in a list; null if it is not in the list. Tries the stored row first, then asks the
 * server, and checks the page at that row. Throws ApiError.
 */
export async function locateRecord(
  client: QueryClient,
  selection: RecordSelection,
  id: string,
  { guess, signal }: { readonly guess: number | null; readonly signal: AbortSignal },
): Promise<number | null> {
  const guessed = guess === null ? null : await findAt(client, selection, id, guess)
  if (guessed !== null) return guessed
  const { filter, sort, asOf = null } = selection
  const list = { ...filterParameters(filter), sort, as_of: asOf ?? undefined }
  const row = await server.records.position(id, list, { signal })
  return row === null ? null : findAt(client, selection, id, row)
}

async function findAt(
  client: QueryClient,
  selection: RecordSelection,
  id: string,
  row: number,
): Promise<number | null> {
  const size = pageSizeOf(selection)
  const page = Math.floor(row / size)
  const { records } = await client.fetchQuery(pageQuery(selection, page))
  const index = records.findIndex((record) => record['id'] === id)
  return index < 0 ? null : page * size + index
}

const KEY = 'colophon.row'

/** Stores the row of a record in the session, for a fast reload. */
export function storeRow(id: string, row: number): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ id, row }))
  } catch {
    // Storage is full or forbidden: the record is searched instead.
  }
}

export function storedRow(id: string): number | null {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { id?: unknown; row?: unknown } | null
    return known?.id === id && typeof known.row === 'number' ? known.row : null
  } catch {
    return null
  }
}
