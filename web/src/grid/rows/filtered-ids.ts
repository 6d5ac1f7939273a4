import { filterParameters, type RecordFilter } from '../../api/record-filter.ts'
import { server } from '../../api/server.ts'

/** The most filtered records of one run. */
export const MAX_FILTERED = 50_000

/** The number of ids that one request reads. */
const PAGE = 10_000

/** Reads the ids of the records that match a filter, at most {@link MAX_FILTERED}. Throws ApiError. */
export async function filteredIds(filter: RecordFilter): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = await server.records.list({
      ...filterParameters(filter),
      fields: ['id'],
      limit: Math.min(PAGE, MAX_FILTERED - ids.length),
      ...(cursor !== null && { cursor }),
    })
    for (const record of page.records) ids.push(String(record['id']))
    cursor = page.next_cursor
  } while (cursor !== null && ids.length < MAX_FILTERED)
  return ids
}
