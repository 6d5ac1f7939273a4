import { formatValue } from '../../values/format-value.ts'
import type { ResultColumn, ResultRow } from './result-columns.ts'

const LEAST = 72
/** The width that a column gets when all columns do not fit beside each other. */
const GREATEST = 360
const PADDING = 26
/** The width of a chip around its text. */
const CHIP = 22
const SAMPLED_ROWS = 100
/** The most characters of a value that are measured. */
const MEASURED = 400

/** Measures texts in CSS pixels. */
export interface TextMeasure {
  readonly value: (text: string) => number
  readonly head: (text: string) => number
}

/** Returns widths that fit most values of each column; columns whose values are cut share the space that is left in `room`. */
export function columnWidths(
  columns: readonly ResultColumn[],
  rows: readonly ResultRow[],
  { room, measure }: { readonly room: number; readonly measure: TextMeasure },
): readonly number[] {
  const wanted = columns.map((column) => wantedWidth(column, rows, measure))
  const widths = wanted.map((width) => Math.min(GREATEST, width))
  let spare = room - widths.reduce((sum, width) => sum + width, 0)
  // The least missing ones first, so that what they do not need goes to the others.
  const cut = [...wanted.keys()]
    .filter((index) => missing(index) > 0)
    .toSorted((a, b) => missing(a) - missing(b))
  for (const [place, index] of cut.entries()) {
    if (spare <= 0) break
    const more = Math.floor(Math.min(missing(index), spare / (cut.length - place)))
    widths[index] = (widths[index] ?? 0) + more
    spare -= more
  }
  return widths

  function missing(index: number): number {
    return (wanted[index] ?? 0) - (widths[index] ?? 0)
  }
}

function wantedWidth({ name, type }: ResultColumn, rows: readonly ResultRow[], measure: TextMeasure): number {
  let width = measure.head(name)
  for (const row of rows.slice(0, SAMPLED_ROWS)) {
    const value = row[name]
    const chips = Array.isArray(value) ? value.length * CHIP : 0
    width = Math.max(width, measure.value(formatValue(type, value).slice(0, MEASURED)) + chips)
  }
  return Math.ceil(Math.max(LEAST, width + PADDING))
}

/** Returns the measure of texts in the font of an element; an estimate where the browser has none. */
export function measureIn(element: Element): TextMeasure {
  const context = document.createElement('canvas').getContext('2d')
  if (context === null) return { value: (text) => text.length * 7.6, head: (text) => text.length * 8.8 }
  const { fontSize, fontFamily } = getComputedStyle(element)
  const inFont = (weight: number) => (text: string) => {
    context.font = `${weight} ${fontSize} ${fontFamily}`
    return context.measureText(text).width
  }
  return { value: inFont(400), head: inFont(600) }
}
