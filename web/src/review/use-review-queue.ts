import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { server } from '../api/server.ts'
import { ANY_COLUMN, type Condition } from '../state/conditions.ts'
import { filterOf, type ViewState } from '../state/view-state.ts'
import { queueOf, reviewedBy, type PageCells, type QueuedCell } from './review-queue.ts'

const RECORDS_AT_ONCE = 200

/** The cells to review, as they were when review began; they stay although they are corrected meanwhile. */
export interface ReviewQueue {
  readonly cells: readonly QueuedCell[]
  /** Whether records of the filter are not read yet. */
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly error: Error | null
  readMore(): void
}

export function useReviewQueue(contract: SheetContract, view: ViewState): ReviewQueue {
  const pages = useInfiniteQuery(pagesQuery(filterOf(view), view.sort, view.conditions))
  const { data, error, isFetching, hasNextPage, fetchNextPage } = pages
  const { conditions } = view
  const cells = useMemo(() => {
    const reviewed = reviewedBy(conditions)
    const fields = contract.fields.map(({ name }) => name)
    return data?.pages.flatMap((page) => queueOf(page, reviewed, fields)) ?? []
  }, [data, conditions, contract])
  return {
    cells,
    hasMore: hasNextPage,
    isReading: isFetching,
    error,
    readMore: () => void fetchNextPage(),
  }
}

/** Pages of cells, not read again while cells change. */
function pagesQuery(filter: RecordFilter | null, sort: string | null, conditions: readonly Condition[]) {
  const { writers } = reviewedBy(conditions)
  return infiniteQueryOptions({
    queryKey: ['review', filter, sort],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const page = { limit: RECORDS_AT_ONCE, fields: ['id'], ...(cursor !== null && { cursor }) }
      const { records, next_cursor: next } = await server.records.list(
        { ...filterParameters(filter), sort, ...page },
        { signal },
      )
      const ids = records.map(({ id }) => String(id))
      return { ...(await cellsOf(ids, writers, signal)), next }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
    gcTime: 0,
  })
}

async function cellsOf(
  ids: readonly string[],
  writers: readonly Condition[],
  signal: AbortSignal,
): Promise<PageCells> {
  if (ids.length === 0) return { ids, states: {}, verdicts: {}, written: {} }
  const [states, { reviews }, written] = await Promise.all([
    server.cells.states(ids, [], { signal }),
    server.cells.reviews({ limit: 10_000 }, { signal }),
    writtenCells(ids, writers, signal),
  ])
  const verdicts: Record<string, Record<string, string>> = {}
  for (const { record_id: id, field, verdict } of reviews) (verdicts[id] ??= {})[field] = verdict
  return { ids, states, verdicts, written }
}

/** Returns the cells of records that conditions on the writers of values select. */
async function writtenCells(
  ids: readonly string[],
  writers: readonly Condition[],
  signal: AbortSignal,
): Promise<PageCells['written']> {
  const written: Record<string, Record<string, true>> = {}
  for (const { field: wanted, is, value } of writers) {
    const names = Array.isArray(value) ? value.map(String) : []
    const by = is === 'writtenBy' ? { by: names } : { by_run: names }
    const { cells } = await server.cells.writers(ids, by, { signal })
    for (const { record_id: id, field } of cells)
      if (wanted === ANY_COLUMN || wanted === field) (written[id] ??= {})[field] = true
  }
  return written
}
