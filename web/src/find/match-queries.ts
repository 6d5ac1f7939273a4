import { queryOptions, type QueryClient } from '@tanstack/react-query'
import type { Condition } from '../../../src/wire/schema/conditions.ts'
import type { RecordSelection } from '../api/queries.ts'
import { filterParameters, recordFilter, type RecordFilter } from '../api/record-filter.ts'
import { server } from '../api/server.ts'

/** The records of a list in which a text is found. */
export interface Matches {
  readonly list: RecordSelection
  /** The names of the fields that are searched. */
  readonly fields: readonly string[]
  readonly text: string
}

/** The number of ids in a page of matches. */
const PAGE_SIZE = 500

/** The ids of the matching records from position `page * PAGE_SIZE` among them, and whether more follow. */
export function matchesQuery(matches: Matches, page: number) {
  const { list } = matches
  return queryOptions({
    queryKey: ['records', 'find', list.filter, list.sort, matches.fields.join(), matches.text, page],
    queryFn: async ({ signal }) => {
      const { records, next_cursor: next } = await server.records.list(
        {
          ...filterParameters(filterOf(matches)),
          sort: list.sort,
          fields: ['id'],
          limit: PAGE_SIZE,
          position: page * PAGE_SIZE,
        },
        { signal },
      )
      return { ids: records.map(({ id }) => String(id)), hasMore: next !== null }
    },
    staleTime: Infinity,
    gcTime: 60_000,
  })
}

/** The number of records in the command menu. */
const FEW = 6

/** The first records of the sheet with a text in any field. */
export function foundRecordsQuery(text: string) {
  return queryOptions({
    queryKey: ['records', 'found', text],
    queryFn: async ({ signal }) =>
      (await server.records.list({ where: { search: text }, limit: FEW }, { signal })).records,
    staleTime: 10_000,
  })
}

/** Returns the id of a match by its position among the matches; null if there is none. Throws ApiError. */
export async function matchAt(client: QueryClient, matches: Matches, index: number): Promise<string | null> {
  const { ids } = await client.fetchQuery(matchesQuery(matches, Math.floor(index / PAGE_SIZE)))
  return ids[index % PAGE_SIZE] ?? null
}

/** Returns the number of matches that precede a record in the list; 0 for one that is not in it. Throws ApiError. */
export async function matchesBefore(matches: Matches, recordId: string): Promise<number> {
  const { filter, sort } = matches.list
  const query = { ...filterParameters(filter), sort, among: searchOf(matches) }
  return (await server.records.position(recordId, query)) ?? 0
}

/** Returns the filter of the matches. */
export function filterOf(matches: Matches): RecordFilter | null {
  const { where, filter } = filterParameters(matches.list.filter)
  const search = searchOf(matches)
  return recordFilter({ where: where === undefined ? search : { and: [where, search] }, sql: filter ?? null })
}

function searchOf({ text, fields }: Matches): Condition {
  return { search: text, fields }
}
