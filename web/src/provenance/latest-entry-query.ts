import { queryOptions } from '@tanstack/react-query'
import { RequestLimiter } from '../api/request-limiter.ts'
import { server } from '../api/server.ts'

/** Browsers allow six connections per host; the others remain for the rest of the page. */
const limiter = new RequestLimiter(3, 3)

/** The latest entry of a cell, up to a moment; null if there is none. */
export function latestEntryQuery(recordId: string, field: string, asOf: string | null) {
  const cell = { record_id: recordId, field, ...(asOf !== null && { as_of: asOf }) }
  return queryOptions({
    queryKey: ['records', 'latest', recordId, field, asOf],
    queryFn: ({ signal }) => limiter.run(() => server.cells.provenance(cell, { signal }), signal),
    staleTime: Infinity,
  })
}
