import { queryOptions } from '@tanstack/react-query'
import { server } from '../api/server.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'

/** Browsers allow six connections per host; the others remain for the rest of the page. */
const limiter = new ConcurrencyLimiter(3)

/** The latest entry of a cell; null if there is none. */
export function latestEntryQuery(recordId: string, field: string) {
  return queryOptions({
    queryKey: ['records', 'latest', recordId, field],
    queryFn: ({ signal }) =>
      limiter.pass(signal, () => server.cells.provenance({ record_id: recordId, field }, { signal })),
    staleTime: Infinity,
  })
}
