import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { server } from '../api/server.ts'

const RUNS_AT_ONCE = 50
const FAILURES_AT_ONCE = 200

/** The pages of runs, newest first. */
export const runPagesQuery = infiniteQueryOptions({
  queryKey: ['runs', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    server.runs.list({ cursor: pageParam, limit: RUNS_AT_ONCE }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor: next }) => next,
  staleTime: Infinity,
})

/** The failures of a run by their reason. */
export function runFailureGroupsQuery(id: string) {
  return queryOptions({
    queryKey: ['runs', 'failure-groups', id],
    queryFn: ({ signal }) => server.runs.failureGroups(id, { signal }),
    staleTime: Infinity,
  })
}

/** The failed cells of a group of a run, in order of failure. */
export function failurePagesQuery(id: string, group: string) {
  return infiniteQueryOptions({
    queryKey: ['runs', 'failure-pages', id, group],
    queryFn: ({ pageParam, signal }) =>
      server.runs.failures(id, { cursor: pageParam, limit: FAILURES_AT_ONCE, group }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: Infinity,
  })
}
