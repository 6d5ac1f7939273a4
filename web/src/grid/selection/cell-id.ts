import type { Place } from './cell-range.ts'

/** Returns the element id of a cell, for aria-activedescendant. */
export function cellId({ row, column }: Place): string {
  return row < 0 ? `head-${column}` : `cell-${row}-${column}`
}
