import type { InvalidateQueryFilters, Query, QueryClient } from '@tanstack/react-query'

/**
 * Refetches invalidated queries. A request in flight completes first and is then repeated, because cancelling it would
 * starve slow queries of a sheet that changes continually.
 */
export function refetch(client: QueryClient, filters: InvalidateQueryFilters = {}): void {
  const underWay = client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })
  void client.invalidateQueries(filters, { cancelRefetch: false })
  for (const query of underWay) void thenAgain(client, query)
}

async function thenAgain(client: QueryClient, { promise, queryKey }: Query): Promise<void> {
  // Errors are shown by the component that uses the query.
  await promise?.catch(() => undefined)
  await client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}
