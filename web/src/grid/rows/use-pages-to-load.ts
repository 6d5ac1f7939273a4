import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { pageQuery, pageSizeOf, type RecordSelection } from '../../api/queries.ts'
import { pagesAhead, pagesOf } from '../layout/row-window.ts'
import type { ScrollView } from '../layout/scroll-view.ts'
import { useLatest } from '../../ui/use-latest.ts'

/** The time between two changes of the pages that are asked for: a dragged thumb passes thousands of them. */
const SETTLE_MS = 40
/** Pages that are on their way are not given up for others before so long: a drag would go on without any. */
const PATIENCE_MS = 200
const LOOK_AGAIN_MS = 16
/** Sorted pages are looked for by going through all records: they are asked for when the scroll has come to rest. */
const REST_MS = 120

/** After a jump, only what is in sight is asked for until there was no other for so long. */
const PASSING_MS = 120

export interface PagesToLoad {
  readonly pages: readonly number[]
  /** Somebody is passing by: what is shown beside the records can wait. */
  readonly isPassing: boolean
}

/** The pages that are wanted, and when these are there, those ahead. What has scrolled past is no longer waited for. */
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
  // Nothing is fetched in advance while what is in sight is not there; each page then leads to the next.
  const areThere = wanted === settled && pages.every((page) => stateOf(page)?.data !== undefined)
  const ahead = areThere && !isPassing ? pagesAhead(pages, view.direction, count, size) : []
  return { pages: [...pages, ...ahead], isPassing }
}

/** Whether these pages have been jumped to just now. */
function useIsPassing(pages: string): boolean {
  const [rested, setRested] = useState(pages)
  const isNear = areNear(listed(rested), listed(pages))
  useEffect(() => {
    const timer = setTimeout(() => setRested(pages), isNear ? 0 : PASSING_MS)
    return () => clearTimeout(timer)
  }, [pages, isNear])
  return !isNear
}

/** Whether one may have been scrolled to from the other. */
function areNear(before: readonly number[], now: readonly number[]): boolean {
  const [from, to] = [before.at(0), now.at(0)]
  return from === undefined || to === undefined || Math.abs(to - from) <= before.length + 2
}

function listed(pages: string): readonly number[] {
  return pages === '' ? [] : pages.split(',').map(Number)
}

/** The value, no more often than it is good to ask for others; with `rest`, when it has not changed for a while. */
function useSettled(value: string, rest: boolean, isUnderWay: (value: string) => boolean): string {
  const [settled, setSettled] = useState(value)
  const last = useRef(0)
  const isUnderWayNow = useLatest(isUnderWay)
  useEffect(() => {
    if (value === settled) return
    let timer: ReturnType<typeof setTimeout>
    const take = (): void => {
      const now = performance.now()
      if (!rest && now - last.current < PATIENCE_MS && isUnderWayNow.current(settled)) {
        timer = setTimeout(take, LOOK_AGAIN_MS)
        return
      }
      last.current = now
      setSettled(value)
    }
    timer = setTimeout(take, rest && settled !== '' ? REST_MS : last.current + SETTLE_MS - performance.now())
    return () => clearTimeout(timer)
  }, [value, settled, rest, isUnderWayNow])
  return settled
}
