import type { Screen, Style } from './terminal.ts'
import { cutToWidth, padToWidth, textWidth } from './text-width.ts'
import { visibleText } from './visible-text.ts'

/** A column of a table. */
export interface Column<T> {
  readonly header: string
  /** Returns the value of an item as JSON; null and undefined are empty. */
  value(item: T): unknown
  /** The alignment; by default right for a column of numbers. */
  readonly align?: 'left' | 'right'
  /** Returns the style of the text; null for none. */
  style?(item: T): Style | null
}

/** A table with fixed widths. */
export interface TableLayout<T> {
  /** Returns the lines of these items, each with its line break; the first call adds the header. */
  lines(items: readonly T[]): string
}

const GAP = '  '
/** The width that a text keeps at least when it is cut. */
const LEAST_WIDTH = 8

interface Placed<T> {
  readonly column: Column<T>
  readonly align: 'left' | 'right'
  readonly width: number
  /** Whether the column is never cut, since a part of a number is another number. */
  readonly whole: boolean
}

/** Lays out a table for these items. Columns that do not fit are named below the header. */
export function renderTable<T>(
  columns: readonly Column<T>[],
  sample: readonly T[],
  screen: Screen,
): TableLayout<T> {
  const placed = fit(
    columns.map((column) => place(column, sample)),
    screen.columns,
  )
  const left = columns.slice(placed.length).map(({ header }) => visibleText(header))
  let header = headerOf(placed, left, screen)
  return {
    lines: (items) => {
      const lines = items.map((item) => lineOf(placed, item, screen))
      const text = `${[...header, ...lines].join('\n')}\n`
      header = []
      return text
    },
  }
}

/** Returns a table of items. */
export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[], screen: Screen): string {
  return renderTable(columns, items, screen).lines(items).slice(0, -1)
}

/** Returns a value as the text of a cell. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value === '') return '""'
  return typeof value === 'string' ? visibleText(value) : visibleText(JSON.stringify(value) ?? '')
}

/** Returns a time to the second, which is enough in a table. */
export function toSeconds(time: string | null): string | null {
  return time?.replace(/\.\d+Z$/, 'Z') ?? null
}

function place<T>(column: Column<T>, sample: readonly T[]): Placed<T> {
  const values = sample
    .map((item) => column.value(item))
    .filter((value) => value !== null && value !== undefined)
  const whole = values.length > 0 && values.every((value) => typeof value === 'number')
  const widths = values.map((value) => textWidth(shownValue(value)))
  return {
    column,
    align: column.align ?? (whole ? 'right' : 'left'),
    width: widths.reduce((most, width) => Math.max(most, width), textWidth(visibleText(column.header))),
    whole,
  }
}

/** Narrows the widest texts until all columns fit, and drops columns from the right when that is not enough. */
function fit<T>(columns: readonly Placed<T>[], room: number): Placed<T>[] {
  for (let count = columns.length; count > 1; count--) {
    const kept = narrowed(columns.slice(0, count), room - GAP.length * (count - 1))
    if (kept !== null) return kept
  }
  return columns.slice(0, 1).map((column) => ({ ...column, width: Math.min(column.width, room) }))
}

/** Returns the columns with widths that add up to at most `room`; null when that is impossible. */
function narrowed<T>(columns: readonly Placed<T>[], room: number): Placed<T>[] | null {
  const flexible = columns.filter(({ whole }) => !whole)
  let free = room - sum(columns.filter(({ whole }) => whole).map(({ width }) => width))
  if (sum(flexible.map(({ width }) => Math.min(width, LEAST_WIDTH))) > free) return null
  // Divides the width from the narrowest column up, so that none is cut in favour of a wider one.
  const widths = new Map<Placed<T>, number>()
  for (const [index, column] of flexible.toSorted((one, other) => one.width - other.width).entries()) {
    const share = Math.floor(free / (flexible.length - index))
    const width = Math.min(column.width, Math.max(share, LEAST_WIDTH))
    widths.set(column, width)
    free -= width
  }
  return columns.map((column) => ({ ...column, width: widths.get(column) ?? column.width }))
}

function headerOf<T>(placed: readonly Placed<T>[], left: readonly string[], screen: Screen): string[] {
  const cells = placed.map(({ column, width, align }) =>
    padToWidth(cutToWidth(visibleText(column.header), width), width, align),
  )
  const header = screen.paint('bold', cells.join(GAP).trimEnd())
  if (left.length === 0) return [header]
  const note = cutToWidth(`(no room for ${left.join(', ')})`, screen.columns)
  return [header, screen.paint('dim', note)]
}

function lineOf<T>(placed: readonly Placed<T>[], item: T, screen: Screen): string {
  const texts = placed.map(({ column, width, whole }) => {
    const shown = shownValue(column.value(item))
    return screen.columns === Infinity || whole ? shown : cutToWidth(shown, width)
  })
  // No spaces follow the last text.
  const end = texts.findLastIndex((text) => text !== '') + 1
  const cells = placed.slice(0, end).map(({ column, width, align }, index) => {
    const text = texts[index] ?? ''
    const padded = index === end - 1 && align === 'left' ? text : padToWidth(text, width, align)
    const style = column.style?.(item) ?? null
    return style === null ? padded : screen.paint(style, padded)
  })
  return cells.join(GAP)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
