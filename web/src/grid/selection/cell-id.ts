import { HEAD_ROW, type Place } from './cell-range.ts'

/** Returns the element id of a cell, for aria-activedescendant. */
export function cellId({ row, column }: Place): string {
  return row < 0 ? `head-${column}` : `cell-${row}-${column}`
}

/** Focuses the summary in a column head; false if there is none. Escape returns the focus to the grid. */
export function focusSummary(column: number): boolean {
  const head = document.getElementById(cellId({ row: HEAD_ROW, column }))
  const summary = head?.querySelector<HTMLElement>('[data-summary]') ?? null
  summary?.focus({ preventScroll: true })
  return summary !== null
}
