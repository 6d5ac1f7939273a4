import { cellId } from './cell-id.ts'
import { HEAD_ROW } from './cell-range.ts'

/** Gives the focus to the picture in a column's head; false where there is none. Escape gives it back to the grid. */
export function focusPicture(column: number): boolean {
  const head = document.getElementById(cellId({ row: HEAD_ROW, column }))
  const picture = head?.querySelector<HTMLElement>('[data-summary]') ?? null
  picture?.focus({ preventScroll: true })
  return picture !== null
}
