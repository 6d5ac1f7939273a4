import type { InvalidateQueryFilters, Query, QueryClient } from '@tanstack/react-query'

/**
 * Has what is out of date read again. What is just being read comes to its end first, and is then read once more:
 * otherwise something that takes long would never be shown of a sheet that changes all the time.
 */
export function readAgain(client: QueryClient, filters: InvalidateQueryFilters = {}): void {
  const underWay = client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })
  void client.invalidateQueries(filters, { cancelRefetch: false })
  for (const query of underWay) void thenAgain(client, query)
}

async function thenAgain(client: QueryClient, { promise, queryKey }: Query): Promise<void> {
  // How it ends is told where it is shown.
  await promise?.catch(() => undefined)
  await client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
}
