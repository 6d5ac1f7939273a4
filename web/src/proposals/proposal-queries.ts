import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { readRecordsById } from '../api/records-by-id.ts'
import { server } from '../api/server.ts'

const PROPOSALS_AT_ONCE = 50

/** The states that a list shows. */
export type ProposalFilter = 'waiting' | 'accepted' | 'rejected' | 'all'

/** The number of waiting proposals. */
export const waitingQuery = queryOptions({
  queryKey: ['proposals', 'waiting'],
  queryFn: async ({ signal }) =>
    (await server.proposals.list({ state: 'waiting', limit: 1 }, { signal })).waiting,
  staleTime: Infinity,
})

/** The pages of proposals, newest first. */
export function proposalPagesQuery(filter: ProposalFilter) {
  return infiniteQueryOptions({
    queryKey: ['proposals', 'pages', filter],
    queryFn: ({ pageParam, signal }) =>
      server.proposals.list(
        { state: filter === 'all' ? undefined : filter, cursor: pageParam, limit: PROPOSALS_AT_ONCE },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: Infinity,
  })
}

/** A proposal with its differences to the present records. */
export function proposalQuery(id: string) {
  return queryOptions({
    queryKey: ['proposals', 'one', id],
    queryFn: ({ signal }) => server.proposals.get(id, { signal }),
    staleTime: Infinity,
  })
}

/** The effect that accepting a waiting change of the definition would have now. */
export function proposalPlanQuery(id: string) {
  return queryOptions({
    queryKey: ['proposals', 'plan', id],
    queryFn: ({ signal }) => server.proposals.plan(id, { signal }),
    retry: false,
  })
}

/** The values of a field of these records, by id. */
export function recordNamesQuery(ids: readonly string[], field: string) {
  return queryOptions({
    queryKey: ['records', 'names', field, ...ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const records = await readRecordsById(ids, [field], signal)
      return new Map(records.map((record) => [String(record['id']), nameOf(record[field])]))
    },
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
