import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { pageQuery, pageSizeOf, type RecordSelection } from '../../api/queries.ts'
import { pagesAhead, pagesOf } from '../layout/row-window.ts'
import type { ScrollView } from '../layout/scroll-view.ts'
import { useLatest } from '../../ui/use-latest.ts'

/** The minimum time between changes of the requested pages: a dragged thumb passes thousands. */
const SETTLE_MS = 40
/** The minimum time before requests in flight are cancelled for others; without it, a drag would load none. */
const MIN_REQUEST_MS = 200
const RETRY_MS = 16
/** The server finds sorted pages by scanning all records, so they are requested when scrolling stops. */
const REST_MS = 120

/** The time after a jump in which only visible pages are requested. */
const PASSING_MS = 120

export interface PagesToLoad {
  readonly pages: readonly number[]
  /** Whether the user scrolls quickly, so that summaries should wait. */
  readonly isPassing: boolean
}

/** Returns the visible pages to load and, once these are loaded, the pages ahead. Other pages are cancelled. */
export function usePagesToLoad(
  client: QueryClient,
  selection: RecordSelection,
  view: ScrollView,
  count: number,
): PagesToLoad {
  const size = pageSizeOf(selection)
  const stateOf = (page: number) => client.getQueryState(pageQuery(selection, page).queryKey)
  const isUnderWay = (pages: string): boolean =>
    listed(pages).some(
      (page) => stateOf(page)?.data === undefined && stateOf(page)?.fetchStatus === 'fetching',
    )
  const wanted = pagesOf(view.wanted, size).join()
  const settled = useSettled(wanted, selection.sort !== null, isUnderWay)
  const isPassing = useIsPassing(settled)
  const pages = listed(settled)
  // Pages ahead are loaded after the visible ones, one after the other.
  const areLoaded = wanted === settled && pages.every((page) => stateOf(page)?.data !== undefined)
  const ahead = areLoaded && !isPassing ? pagesAhead(pages, view.direction, count, size) : []
  return { pages: [...pages, ...ahead], isPassing }
}

/** Whether these pages were jumped to recently. */
function useIsPassing(pages: string): boolean {
  const [rested, setRested] = useState(pages)
  const isNear = areNear(listed(rested), listed(pages))
  useEffect(() => {
    const timer = setTimeout(() => setRested(pages), isNear ? 0 : PASSING_MS)
    return () => clearTimeout(timer)
  }, [pages, isNear])
  return !isNear
}

/** Whether scrolling from one position could have reached the other. */
function areNear(before: readonly number[], now: readonly number[]): boolean {
  const [from, to] = [before.at(0), now.at(0)]
  return from === undefined || to === undefined || Math.abs(to - from) <= before.length + 2
}

function listed(pages: string): readonly number[] {
  return pages === '' ? [] : pages.split(',').map(Number)
}

/** Throttles a value; with `rest`, debounces it. */
function useSettled(value: string, rest: boolean, isUnderWay: (value: string) => boolean): string {
  const [settled, setSettled] = useState(value)
  const last = useRef(0)
  const isUnderWayNow = useLatest(isUnderWay)
  useEffect(() => {
    if (value === settled) return
    let timer: ReturnType<typeof setTimeout>
    const update = (): void => {
      const now = performance.now()
      if (!rest && now - last.current < MIN_REQUEST_MS && isUnderWayNow.current(settled)) {
        timer = setTimeout(update, RETRY_MS)
        return
      }
      last.current = now
      setSettled(value)
    }
    timer = setTimeout(
      update,
      rest && settled !== '' ? REST_MS : last.current + SETTLE_MS - performance.now(),
    )
    return () => clearTimeout(timer)
  }, [value, settled, rest, isUnderWayNow])
  return settled
}
