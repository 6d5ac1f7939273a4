import { useEffect, useRef } from 'react'
import type { CellRef, ViewChange, ViewState } from '../../state/view-state.ts'

/** The address bar follows the selection this much later: browsers allow few changes of it in a time. */
const FOLLOW_MS = 200

export function keyOf(cell: CellRef | null): string {
  return cell === null ? '' : `${cell.recordId}\0${cell.field}`
}

interface Following {
  readonly view: ViewState
  readonly change: (change: ViewChange) => void
  readonly cell: CellRef | null
  /** The cell that the address bar is known to have, so that another there is noticed. */
  readonly seen: { current: string }
  readonly reveal: (cell: CellRef) => void
}

/** The address bar names the selected cell; and leads, when it names another. */
export function useAddressSync({ cell, view, change, seen, reveal }: Following): void {
  const isFirst = useRef(true)
  const named = keyOf(view.cell)
  useEffect(() => {
    const isNew = isFirst.current || named !== seen.current
    isFirst.current = false
    seen.current = named
    if (isNew && view.cell !== null && named !== keyOf(cell)) reveal(view.cell)
    // Only what the address bar says counts here.
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
