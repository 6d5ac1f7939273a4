import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FieldSummaryAnswer } from '../../../src/wire/records/summary.ts'
import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { RequestLimiter } from '../api/request-limiter.ts'
import { server } from '../api/server.ts'

/** A summary of a field with the number of records. */
export interface CountedSummary {
  readonly count: number
  readonly summary: FieldSummaryAnswer
  /** The duration of the request in milliseconds. */
  readonly took: number
}

interface SummaryState {
  readonly data: CountedSummary | null
  readonly error: Error | null
  /** Whether the summary is of another filter, or not loaded. */
  readonly isWaiting: boolean
  retry(): void
}

/** One at a time on a large sheet, so that summaries do not delay records. */
const limiter = new RequestLimiter(3, 1)

/** The minimum interval of refetching a summary while records change; longer for slow summaries. */
const MIN_AGE_MS = 2000
const AGE_PER_MS = 12
const GREATEST_AGE_MS = 60_000

/**
 * Loads the summary of the matching records; the previous one stays while loading. Requests are limited and not
 * repeated at each change, because each may scan all records.
 */
export function useSummary(field: string, filter: RecordFilter | null, isEnabled: boolean): SummaryState {
  const { data, error, isFetching, isPlaceholderData, dataUpdatedAt, refetch } = useQuery({
    ...countedSummaryQuery(field, filter),
    enabled: isEnabled,
    placeholderData: (before, query) => (query?.queryKey[1] === field ? before : undefined),
  })
  const { data: changedAt = 0 } = useQuery(changedAtQuery)
  const took = data?.took ?? 0
  const isOld = isEnabled && data !== undefined && !isPlaceholderData && changedAt > dataUpdatedAt
  useEffect(() => {
    if (!isOld) return
    const due = dataUpdatedAt + Math.min(MIN_AGE_MS + took * AGE_PER_MS, GREATEST_AGE_MS)
    const timer = setTimeout(() => void refetch({ cancelRefetch: false }), Math.max(0, due - Date.now()))
    return () => clearTimeout(timer)
  }, [isOld, dataUpdatedAt, took, refetch])
  return {
    data: data ?? null,
    error: isFetching ? null : error,
    isWaiting: isPlaceholderData || data === undefined,
    retry: () => void refetch(),
  }
}

/** Not under the key `records`, which is invalidated at each change. */
function countedSummaryQuery(field: string, filter: RecordFilter | null) {
  return queryOptions({
    queryKey: ['summary', field, filter],
    queryFn: ({ signal }) => limiter.run(() => read(field, filter, signal), signal),
    staleTime: Infinity,
    retry: false,
  })
}

/** Aborts the request on the server when no component needs it. */
async function read(
  field: string,
  filter: RecordFilter | null,
  signal: AbortSignal,
): Promise<CountedSummary> {
  const began = performance.now()
  const { count, fields } = await server.records.summary(
    { fields: [field], ...filterParameters(filter) },
    { signal },
  )
  return { count, summary: fields[field] ?? { nulls: 0 }, took: performance.now() - began }
}

/** The time of the last change of records, refetched with all record queries. */
const changedAtQuery = queryOptions({
  queryKey: ['records', 'changed at'],
  queryFn: () => Date.now(),
  staleTime: Infinity,
})
