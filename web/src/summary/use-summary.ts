import { queryOptions, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FieldSummaryAnswer, RecordGroupAnswer } from '../../../src/wire/records/summary.ts'
import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { RequestLimiter } from '../api/request-limiter.ts'
import { server } from '../api/server.ts'
import type { GroupPeriod } from '../state/view-state.ts'

/** A summary of a field with the number of records. */
export interface CountedSummary {
  readonly count: number
  readonly summary: FieldSummaryAnswer
  /** The duration of the request in milliseconds. */
  readonly took: number
}

/** Groups of records. */
export interface CountedGroups {
  readonly count: number
  readonly groups: readonly RecordGroupAnswer[]
  /** The duration of the request in milliseconds. */
  readonly took: number
}

interface GroupsAsked {
  readonly group: string
  readonly split: string | undefined
  readonly totals: readonly string[] | undefined
  readonly period: GroupPeriod
}

interface SummaryAsked {
  readonly field: string
  readonly filter: RecordFilter | null
  /** A second field, which divides the histogram; null for none. */
  readonly split: string | null
}

/** Data for which the server may read all records. */
interface Loaded<T> {
  readonly data: T | null
  readonly error: Error | null
  /** Whether the data is of another filter, or not loaded. */
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
 * Loads the summary of the matching records, its histogram divided by a second field; the previous one stays while loading. Requests are limited and not
 * repeated at each change, because each may scan all records.
 */
export function useSummary(
  field: string,
  filter: RecordFilter | null,
  isEnabled: boolean,
  split: string | null = null,
): Loaded<CountedSummary> {
  const query = useQuery({
    ...countedSummaryQuery(field, filter, split),
    enabled: isEnabled,
    placeholderData: (before, previous) =>
      previous?.queryKey[1] === field && previous.queryKey[3] === split ? before : undefined,
  })
  return useRefreshed(query, isEnabled)
}

/** Loads the groups of the matching records as {@link useSummary} does. */
export function useGroups(asked: GroupsAsked, filter: RecordFilter | null): Loaded<CountedGroups> {
  const key = JSON.stringify(asked)
  const query = useQuery({
    queryKey: ['groups', key, filter] as const,
    queryFn: ({ signal }) => limiter.run(() => readGroups(asked, filter, signal), signal),
    staleTime: Infinity,
    retry: false,
    placeholderData: (before, previous) => (previous?.queryKey[1] === key ? before : undefined),
  })
  return useRefreshed(query, true)
}

/** Loads again what has become old, but not at each change. */
function useRefreshed<T extends { readonly took: number }>(
  { data, error, isFetching, isPlaceholderData, dataUpdatedAt, refetch }: UseQueryResult<T>,
  isEnabled: boolean,
): Loaded<T> {
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
function countedSummaryQuery(field: string, filter: RecordFilter | null, split: string | null) {
  return queryOptions({
    queryKey: ['summary', field, filter, split],
    queryFn: ({ signal }) => limiter.run(() => read({ field, filter, split }, signal), signal),
    staleTime: Infinity,
    retry: false,
  })
}

/** Aborts the request on the server when no component needs it. */
async function read({ field, filter, split }: SummaryAsked, signal: AbortSignal): Promise<CountedSummary> {
  const began = performance.now()
  const { count, fields } = await server.records.summary(
    { fields: [field], split: split ?? undefined, ...filterParameters(filter) },
    { signal },
  )
  return { count, summary: fields[field] ?? { nulls: 0 }, took: performance.now() - began }
}

async function readGroups(
  asked: GroupsAsked,
  filter: RecordFilter | null,
  signal: AbortSignal,
): Promise<CountedGroups> {
  const began = performance.now()
  const answer = await server.records.summary({ ...asked, ...filterParameters(filter) }, { signal })
  return { count: answer.count, groups: answer.groups ?? [], took: performance.now() - began }
}

/** The time of the last change of records, refetched with all record queries. */
const changedAtQuery = queryOptions({
  queryKey: ['records', 'changed at'],
  queryFn: () => Date.now(),
  staleTime: Infinity,
})
