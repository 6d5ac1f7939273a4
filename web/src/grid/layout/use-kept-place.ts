import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { RecordSelection } from '../../api/queries.ts'
import type { CellRef } from '../../state/view-state.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { readPlace, storePlace, type KeptPlace } from './kept-place.ts'
import type { ScrollController } from './scroll-controller.ts'

interface Keeping {
  readonly scroller: ScrollController
  readonly list: RecordSelection
  /** The number of records; null until loaded. */
  readonly count: number | null
  /** The selected cell in the URL. */
  readonly cell: CellRef | null
}

/**
 * Stores the scroll position when the grid is left or the page is reloaded, and returns there. Returns the place that
 * the grid began at; null for the first row.
 */
export function useKeptPlace({ scroller, list, count, cell }: Keeping): KeptPlace | null {
  const [kept] = useState(() => readPlace(list))
  const hasBegun = useRef(false)
  const isLoaded = count !== null
  useLayoutEffect(() => {
    if (!isLoaded || hasBegun.current) return
    hasBegun.current = true
    if (kept !== null) scroller.beginAt(kept)
  }, [isLoaded, kept, scroller])
  const latest = useLatest({ list, cell })
  useEffect(() => {
    const store = (): void => {
      if (!hasBegun.current) return
      const { offset, left } = scroller
      storePlace(latest.current.list, { offset, left, cell: latest.current.cell })
    }
    addEventListener('pagehide', store)
    return () => {
      removeEventListener('pagehide', store)
      store()
    }
  }, [latest, scroller])
  return kept
}
