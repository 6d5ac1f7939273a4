import type { QueryClient } from '@tanstack/react-query'
import { server } from '../api/server.ts'
import { pageQuery, pageSizeOf, type RecordSelection } from '../api/queries.ts'
import { locatingSql } from './locating-sql.ts'

/** Records that are equal in what is sorted by are looked through for so many pages. */
const PAGES_LOOKED_AT = 4

/**
 * The row of a record in a list; null when it is not in there or cannot be found. A guess, and then SQL, tell where it
 * may be, and the pages there tell whether it is. Throws ApiError.
 */
export async function locateRecord(
  client: QueryClient,
  selection: RecordSelection,
  id: string,
  { guess, signal }: { readonly guess: number | null; readonly signal: AbortSignal },
): Promise<number | null> {
  const guessed = guess === null ? null : await findFrom(client, selection, id, guess, 1)
  if (guessed !== null) return guessed
  const { rows } = await server.query(locatingSql(selection), [id], { signal })
  const row = rows[0]?.['row']
  return typeof row === 'number' ? findFrom(client, selection, id, row, PAGES_LOOKED_AT) : null
}

async function findFrom(
  client: QueryClient,
  selection: RecordSelection,
  id: string,
  row: number,
  pages: number,
): Promise<number | null> {
  const size = pageSizeOf(selection)
  const from = Math.floor(row / size)
  for (let page = from; page < from + pages; page += 1) {
    const { records, next_cursor: next } = await client.fetchQuery(pageQuery(selection, page))
    const index = records.findIndex((record) => record['id'] === id)
    if (index >= 0) return page * size + index
    if (next === null) return null
  }
  return null
}

const KEY = 'colophon.row'

/** Remembers, as long as the tab is there, in which row a record was: a reload finds it at once. */
export function rememberRow(id: string, row: number): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ id, row }))
  } catch {
    // Full or forbidden: it is looked for instead.
  }
}

export function rememberedRow(id: string): number | null {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { id?: unknown; row?: unknown } | null
    return known?.id === id && typeof known.row === 'number' ? known.row : null
  } catch {
    return null
  }
}
