import { useEffect, useRef } from 'react'
import type { CellRef, ViewChange, ViewState } from '../../state/view-state.ts'

/** The delay of URL updates: browsers limit their rate. */
const FOLLOW_MS = 200

export function keyOf(cell: CellRef | null): string {
  return cell === null ? '' : `${cell.recordId}\0${cell.field}`
}

interface Following {
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly cell: CellRef | null
  /** The cell in the URL as last written, to recognize navigation. */
  readonly seen: { current: string }
  readonly reveal: (cell: CellRef) => void
}

/** Writes the selected cell into the URL, and selects the cell of the URL after navigation. */
export function useAddressSync({ cell, view, change, seen, reveal }: Following): void {
  const isFirst = useRef(true)
  const named = keyOf(view.cell)
  useEffect(() => {
    const isNew = isFirst.current || named !== seen.current
    isFirst.current = false
    seen.current = named
    if (isNew && view.cell !== null && named !== keyOf(cell)) reveal(view.cell)
    // Runs only on changes of the URL.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [named])
  useEffect(() => {
    if (cell === null || keyOf(cell) === seen.current) return
    const timer = setTimeout(() => {
      seen.current = keyOf(cell)
      change({ cell })
    }, FOLLOW_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line react/exhaustive-deps
  }, [cell])
}
