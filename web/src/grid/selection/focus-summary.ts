import { cellId } from './cell-id.ts'
import { HEAD_ROW } from './cell-range.ts'

/** Focuses the summary in a column head; false if there is none. Escape returns the focus to the grid. */
export function focusSummary(column: number): boolean {
  const head = document.getElementById(cellId({ row: HEAD_ROW, column }))
  const picture = head?.querySelector<HTMLElement>('[data-summary]') ?? null
  picture?.focus({ preventScroll: true })
  return picture !== null
}
