import { formatValue } from '../../values/format-value.ts'
import type { ResultColumn, ResultRow } from './result-columns.ts'

const LEAST = 72
const GREATEST = 360
const PADDING = 26
/** The average width of a character in CSS pixels. */
const LETTER = 7.6
const HEAD_LETTER = 8.8
/** The width of a chip around its text. */
const CHIP = 22
const SAMPLED_ROWS = 100

/** Returns a width that fits most values of a column. */
export function columnWidth({ name, type }: ResultColumn, rows: readonly ResultRow[]): number {
  let width = name.length * HEAD_LETTER
  for (const row of rows.slice(0, SAMPLED_ROWS)) {
    const value = row[name]
    const chips = Array.isArray(value) ? value.length * CHIP : 0
    width = Math.max(width, formatValue(type, value).length * LETTER + chips)
  }
  return Math.round(Math.min(GREATEST, Math.max(LEAST, width + PADDING)))
}
