import { infiniteQueryOptions } from '@tanstack/react-query'
import { server } from '../api/server.ts'

const RUNS_AT_ONCE = 50
/** A large page, because failures are grouped. */
const FAILURES_AT_ONCE = 1000

/** The pages of runs, newest first. */
export const runPagesQuery = infiniteQueryOptions({
  queryKey: ['runs', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    server.runs.list({ cursor: pageParam, limit: RUNS_AT_ONCE }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor: next }) => next,
  staleTime: Infinity,
})

/** The failed cells of a run, in order of failure. */
export function failurePagesQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['runs', 'failure-pages', id],
    queryFn: ({ pageParam, signal }) =>
      server.runs.failures(id, { cursor: pageParam, limit: FAILURES_AT_ONCE }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    staleTime: Infinity,
  })
}
