import type { PageSelection } from '../../../src/client/records-client.ts'
import type { RecordListAnswer } from '../../../src/wire/records/records.ts'

/**
 * Reads a page until it has `limit` records or the list ends: the server ends a page early if its records are large.
 */
export async function wholePage(
  query: PageSelection & { readonly limit: number },
  list: (query: PageSelection) => Promise<RecordListAnswer>,
): Promise<RecordListAnswer> {
  let page = await list(query)
  const { position: _position, ...rest } = query
  while (page.next_cursor !== null && page.records.length < query.limit) {
    const limit = query.limit - page.records.length
    const more = await list({ ...rest, limit, cursor: page.next_cursor })
    const changed = page.changed && [...page.changed, ...(more.changed ?? [])]
    page = {
      ...more,
      limit: page.limit,
      records: [...page.records, ...more.records],
      ...(changed !== undefined && { changed }),
    }
  }
  return page
}
