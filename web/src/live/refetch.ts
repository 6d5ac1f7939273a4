import type { InvalidateQueryFilters, Query, QueryClient } from '@tanstack/react-query'
import { isHeldNow, refreshHeld } from './held-list.ts'

/**
 * Refetches invalidated queries. A request in flight completes first and is then repeated, because cancelling it would
 * starve slow queries of a sheet that changes continually. A list that is held keeps its records, with their present
 * values.
 */
export function refetch(client: QueryClient, wanted: InvalidateQueryFilters = {}): void {
  const isHeld = isHeldNow()
  const cache = client.getQueryCache()
  const filters: InvalidateQueryFilters = {
    ...wanted,
    predicate: (query) => !isHeld(query) && wanted.predicate?.(query) !== false,
  }
  // Errors of reading leave the values; the connection is shown in its place.
  if (cache.findAll(wanted).some(isHeld)) refreshHeld(client).catch(() => undefined)
  const underWay = cache.findAll({ ...filters, fetchStatus: 'fetching' })
  void client.invalidateQueries(filters, { cancelRefetch: false })
  for (const query of underWay) void thenAgain(client, query)
}

async function thenAgain(client: QueryClient, { promise, queryKey }: Query): Promise<void> {
  // Errors are shown by the component that uses the query.
  await promise?.catch(() => undefined)
  await client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}
