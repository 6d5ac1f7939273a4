import type { QueryClient } from '@tanstack/react-query'
import type { RecordAnswer } from '../../../../src/wire/records/records.ts'
import { pageQuery, pageSizeOf, type RecordSelection } from '../../api/queries.ts'
import { formatCount } from '../../ui/format.ts'

/** The maximum number of rows to copy, clear or paste. */
export const MAX_ROWS_AT_ONCE = 10_000

/** Reads the records of a range of rows, as far as they exist. Throws ApiError. */
export async function readRange(
  client: QueryClient,
  selection: RecordSelection,
  top: number,
  bottom: number,
): Promise<readonly RecordAnswer[]> {
  if (bottom - top >= MAX_ROWS_AT_ONCE) {
    throw new Error(`At most ${formatCount(MAX_ROWS_AT_ONCE)} rows can be copied or changed at once.`)
  }
  const size = pageSizeOf(selection)
  const first = Math.floor(top / size)
  const records: RecordAnswer[] = []
  for (let page = first; page * size <= bottom; page += 1) {
    const answer = await client.fetchQuery({ ...pageQuery(selection, page), staleTime: Infinity })
    records.push(...answer.records)
    if (answer.next_cursor === null) break
  }
  return records.slice(top - first * size, bottom - first * size + 1)
}
