import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { RecordAnswer, RecordListAnswer } from '../../../../src/wire/records/records.ts'
import type { CellStatesAnswer } from '../../../../src/wire/runs/status.ts'
import {
  cellStatesQuery,
  listCountQuery,
  pageQuery,
  pageSizeOf,
  type RecordSelection,
} from '../../api/queries.ts'
import { proposedCellsQuery, waitingQuery, type ProposedCells } from '../../proposals/proposal-queries.ts'
import type { CellStateName } from '../../ui/cell-state.tsx'
import { splitIds } from '../../api/split-ids.ts'
import { pagesOf, type RowRange } from '../layout/row-window.ts'
import type { ScrollView } from '../layout/scroll-view.ts'
import { usePagesToLoad } from './use-pages-to-load.ts'

export type CellStates = Readonly<Record<string, CellStateName>>

/** The loaded records of the grid. */
export interface Rows {
  /** The shown selection: the requested one, or the previous one while it loads. */
  readonly selection: RecordSelection
  readonly isWaiting: boolean
  /** Whether visible rows, or those of a pending jump, are loading. */
  readonly isReading: boolean
  /** Null until loaded. */
  readonly count: number | null
  /** The error that prevents showing records. */
  readonly error: Error | null
  /** The error of visible rows that could not be loaded. */
  readonly pageError: Error | null
  retry(): void
  at(row: number): RecordAnswer | undefined
  /** Whether all of these rows are loaded. */
  areLoaded(rows: RowRange): boolean
  /** Returns the row of a loaded record; null if it is not loaded. */
  find(id: string): number | null
  statesOf(id: string): CellStates | undefined
  /** In the past, returns the fields of a loaded row that have another value now; null for a record deleted since. */
  changedAt(row: number): readonly string[] | null
  /** The cells and records of the loaded rows that differ from now. */
  readonly changed: { readonly cells: number; readonly deleted: number }
  /** Returns the cells of a record for which proposals wait. */
  proposedOf(id: string): ProposedCells | undefined
}

const NONE: readonly string[] = []

/** Loads the visible pages and those ahead; cancels others. */
export function useRows(wanted: RecordSelection, view: ScrollView, hasDerived: boolean): Rows {
  const client = useQueryClient()
  const { selection, isWaiting, count, error } = useShownSelection(wanted)
  const { pages, isPassing } = usePagesToLoad(client, selection, view, count ?? 0)
  const results = useQueries({ queries: pages.map((page) => pageQuery(selection, page)) })
  const dataByPage = new Map(pages.map((page, index) => [page, results[index]?.data]))
  const answerOf = (page: number): RecordListAnswer | undefined =>
    dataByPage.get(page) ?? client.getQueryData<RecordListAnswer>(pageQuery(selection, page).queryKey)
  const recordsOf = (page: number): readonly RecordAnswer[] | undefined => answerOf(page)?.records
  const isPast = (selection.asOf ?? null) !== null
  const changes = pages.flatMap((page) => dataByPage.get(page)?.changed ?? [])
  const statesOf = useCellStates(
    hasDerived && !isPassing && !isPast ? pages.map((page) => dataByPage.get(page)?.records ?? []) : [],
  )
  const proposedOf = useProposedCells(
    isPassing || isPast ? [] : pages.map((page) => dataByPage.get(page)?.records ?? []),
  )
  const size = pageSizeOf(selection)
  const areLoaded = (range: RowRange): boolean =>
    pagesOf(range, size).every((page) => recordsOf(page) !== undefined)
  const failed = results.find((result) => result.error !== null && result.data === undefined)
  return {
    selection,
    isWaiting,
    isReading: failed === undefined && !areLoaded(view.wanted),
    count,
    error,
    pageError: failed?.error ?? null,
    retry: () =>
      void client.refetchQueries({ queryKey: ['records'], predicate: ({ state }) => state.error !== null }),
    at: (row) => recordsOf(Math.floor(row / size))?.[row % size],
    areLoaded,
    find: (id) => {
      for (const page of pages) {
        const index = recordsOf(page)?.findIndex((record) => record['id'] === id) ?? -1
        if (index >= 0) return page * size + index
      }
      return null
    },
    statesOf,
    changedAt: (row) => {
      const changed = isPast ? answerOf(Math.floor(row / size))?.changed : undefined
      return changed === undefined ? NONE : (changed[row % size] ?? null)
    },
    changed: {
      cells: changes.reduce((sum, names) => sum + (names?.length ?? 0), 0),
      deleted: changes.filter((names) => names === null).length,
    },
    proposedOf,
  }
}

/** Returns the previous selection until the first page of the new one is loaded, to avoid flashing. */
function useShownSelection(
  wanted: RecordSelection,
): Pick<Rows, 'selection' | 'isWaiting' | 'error'> & { readonly count: number | null } {
  const [selection, setSelection] = useState(wanted)
  const [hasShown, setHasShown] = useState(false)
  const isShown =
    selection.filter === wanted.filter && selection.sort === wanted.sort && selection.asOf === wanted.asOf
  const first = useQuery({ ...pageQuery(wanted, 0), enabled: !isShown || !hasShown })
  const counted = useQuery(listCountQuery(wanted))
  const shownCount = useQuery({ ...listCountQuery(selection), enabled: !isShown })
  const isReady = first.data !== undefined && counted.data !== undefined && !counted.isPlaceholderData
  if (isReady && (!isShown || !hasShown)) {
    setSelection(wanted)
    setHasShown(true)
  }
  return {
    selection,
    isWaiting: !isShown,
    count: (isShown ? counted.data : shownCount.data) ?? null,
    error:
      first.data === undefined
        ? (first.error ?? counted.error)
        : counted.data === undefined
          ? counted.error
          : null,
  }
}

/** Loads the states of derived cells; previous states are kept while reloading. */
function useCellStates(pages: readonly (readonly RecordAnswer[])[]): Rows['statesOf'] {
  const [known] = useState(() => new Map<string, CellStates>())
  const chunks = pages.flatMap((records) => splitIds(records.map((record) => String(record['id']))))
  const byId = useQueries({ queries: chunks.map((ids) => cellStatesQuery(ids)), combine: joinStates })
  useEffect(() => {
    if (known.size > MAX_KNOWN) known.clear()
    for (const [id, states] of byId) known.set(id, states)
  }, [known, byId])
  return (id) => byId.get(id) ?? known.get(id)
}

/** Loads the cells for which proposals wait, while any does. */
function useProposedCells(pages: readonly (readonly RecordAnswer[])[]): Rows['proposedOf'] {
  const { data: waiting = 0 } = useQuery(waitingQuery)
  const chunks =
    waiting === 0 ? [] : pages.flatMap((records) => splitIds(records.map((record) => String(record['id']))))
  const byId = useQueries({ queries: chunks.map((ids) => proposedCellsQuery(ids)), combine: joinProposed })
  return (id) => byId.get(id)
}

function joinProposed(
  results: readonly { readonly data: ReadonlyMap<string, ProposedCells> | undefined }[],
): ReadonlyMap<string, ProposedCells> {
  return new Map(results.flatMap(({ data }) => [...(data ?? [])]))
}

const MAX_KNOWN = 5000

function joinStates(
  results: readonly { readonly data: CellStatesAnswer | undefined }[],
): ReadonlyMap<string, CellStates> {
  return new Map(results.flatMap(({ data }) => Object.entries(data ?? {}) as [string, CellStates][]))
}
