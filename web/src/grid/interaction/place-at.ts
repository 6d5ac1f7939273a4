import { columnAt } from '../layout/column-layout.ts'
import type { Place } from '../selection/cell-range.ts'
import type { GridModel } from './use-grid.ts'

/** A position in the window in CSS pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** The scroll step per frame in CSS pixels, while dragging beyond the edge. */
const DRAG_STEP = 24

/** Returns the cell at a position, or the nearest; null without columns. */
export function placeAt({ scroller, columns, rows }: GridModel, { x, y }: Point): Place | null {
  const box = scroller.element?.getBoundingClientRect()
  if (box === undefined) return null
  const column = columnAt(columns.layout, x - box.left, scroller.left)
  const row = Math.floor((y - box.top - columns.headHeight + scroller.offset) / scroller.rowHeight)
  if (column === undefined) return null
  return { row: Math.max(0, Math.min(row, (rows.count ?? 0) - 1)), column: column.index }
}

/** Scrolls while the pointer is beyond an edge of the cells. */
export function scrollAtEdges({ scroller, columns }: GridModel, { x, y }: Point): void {
  const box = scroller.element?.getBoundingClientRect()
  if (box === undefined) return
  if (y < box.top + columns.headHeight) scroller.scrollTo(scroller.offset - DRAG_STEP)
  else if (y > box.bottom) scroller.scrollTo(scroller.offset + DRAG_STEP)
  if (x > box.right) scroller.scrollToLeft(scroller.left + DRAG_STEP)
  else if (x < box.left + columns.layout.pinnedEnd) scroller.scrollToLeft(scroller.left - DRAG_STEP)
}
