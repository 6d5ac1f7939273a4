import type { Screen, Style } from './terminal.ts'
import { cutToWidth, padToWidth, textWidth } from './text-width.ts'
import { visibleText } from './visible-text.ts'

/** A column of a table. */
export interface Column<T> {
  readonly header: string
  /** What an item has there, as JSON has it; null and undefined are left empty. */
  value(item: T): unknown
  /** Absent: right when there are only numbers in it. */
  readonly align?: 'left' | 'right'
  /** The style of the text; null is as it is. */
  style?(item: T): Style | null
}

/** A table whose widths are settled. */
export interface TableLayout<T> {
  /** The lines of these items, each with its line break; before the first of all stands the header. */
  lines(items: readonly T[]): string
}

const GAP = '  '
/** Text is not cut to less than this, nor cut off at all where there is room. */
const LEAST_WIDTH = 8

interface Placed<T> {
  readonly column: Column<T>
  readonly align: 'left' | 'right'
  readonly width: number
  /** Numbers are never cut: a part of a number is another number. */
  readonly whole: boolean
}

/** Lays out a table as these items need it. Columns for which there is no room at all are named below the header. */
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

/** A table of items that are all there. */
export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[], screen: Screen): string {
  return renderTable(columns, items, screen).lines(items).slice(0, -1)
}

/** What a cell of a table shows of a value. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value === '') return '""'
  return typeof value === 'string' ? visibleText(value) : visibleText(JSON.stringify(value) ?? '')
}

/** A time to the second, which in a table is enough. */
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

/** Makes the widest texts narrower until all fit, and leaves out columns from the right where that is not enough. */
function fit<T>(columns: readonly Placed<T>[], room: number): Placed<T>[] {
  for (let count = columns.length; count > 1; count--) {
    const kept = narrowed(columns.slice(0, count), room - GAP.length * (count - 1))
    if (kept !== null) return kept
  }
  return columns.slice(0, 1).map((column) => ({ ...column, width: Math.min(column.width, room) }))
}

/** The columns with widths that add up to at most `room`; null where there are none. */
function narrowed<T>(columns: readonly Placed<T>[], room: number): Placed<T>[] | null {
  const flexible = columns.filter(({ whole }) => !whole)
  let free = room - sum(columns.filter(({ whole }) => whole).map(({ width }) => width))
  if (sum(flexible.map(({ width }) => Math.min(width, LEAST_WIDTH))) > free) return null
  // From the narrowest up, each may have its share of what is left: none is cut for the sake of a wider one.
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
  // Nothing is drawn behind the last text, spaces neither.
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
