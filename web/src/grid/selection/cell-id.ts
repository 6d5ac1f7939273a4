import type { Place } from './cell-range.ts'

/** The id of a cell's element, by which the grid tells which of them has the focus. */
export function cellId({ row, column }: Place): string {
  return row < 0 ? `head-${column}` : `cell-${row}-${column}`
}
