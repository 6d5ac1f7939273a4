import { infiniteQueryOptions } from '@tanstack/react-query'
import { server } from '../api/server.ts'

const RUNS_AT_ONCE = 50
/** Many, since they are grouped. */
const FAILURES_AT_ONCE = 1000

/** The runs, newest first, as far as they have been scrolled to. */
export const runPagesQuery = infiniteQueryOptions({
  queryKey: ['runs', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    server.runs.list({ cursor: pageParam, limit: RUNS_AT_ONCE }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor: next }) => next,
  staleTime: Infinity,
})

/** The cells that failed in a run, in the order in which they did. */
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
