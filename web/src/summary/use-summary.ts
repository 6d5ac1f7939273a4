import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FieldSummaryAnswer } from '../../../src/wire/records/summary.ts'
import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { server } from '../api/server.ts'
import { Turns } from './turns.ts'

/** A summary of a field, and of how many records it is. */
export interface CountedSummary {
  readonly count: number
  readonly summary: FieldSummaryAnswer
  /** How long it took, in milliseconds. */
  readonly took: number
}

interface SummaryState {
  readonly data: CountedSummary | null
  readonly error: Error | null
  /** What is shown is of another filter, or nothing is there yet. */
  readonly isWaiting: boolean
  retry(): void
}

const turns = new Turns()

/** While records keep changing, a summary is made anew after so long, and longer when it takes long. */
const LEAST_AGE_MS = 2000
const AGE_PER_MS = 12
const GREATEST_AGE_MS = 60_000

/**
 * A summary of the records that the filter lets through; what was known stays until the new is there. It is asked for
 * by turns and not whenever anybody writes, since each may go through all records.
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
    const due = dataUpdatedAt + Math.min(LEAST_AGE_MS + took * AGE_PER_MS, GREATEST_AGE_MS)
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

/** Not among `records`, which are read anew at each change. */
function countedSummaryQuery(field: string, filter: RecordFilter | null) {
  return queryOptions({
    queryKey: ['summary', field, filter],
    queryFn: ({ signal }) => turns.take(() => read(field, filter, signal), signal),
    staleTime: Infinity,
    retry: false,
  })
}

/** When nobody wants to know any more, the server does not go on either. */
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

/** When the records last changed, as far as the page knows: it is read anew together with all that is about them. */
const changedAtQuery = queryOptions({
  queryKey: ['records', 'changed at'],
  queryFn: () => Date.now(),
  staleTime: Infinity,
})
