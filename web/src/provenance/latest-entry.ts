import { queryOptions } from '@tanstack/react-query'
import { server } from '../api/server.ts'
import { Turnstile } from './turnstile.ts'

/** Browsers allow six connections to a host: some are left for the rest of the page. */
const turnstile = new Turnstile(3)

/** The latest entry of a cell; null when nothing is known of it. */
export function latestEntryQuery(recordId: string, field: string) {
  return queryOptions({
    queryKey: ['records', 'latest', recordId, field],
    queryFn: ({ signal }) =>
      turnstile.pass(signal, () => server.cells.provenance({ record_id: recordId, field }, { signal })),
    staleTime: Infinity,
  })
}
