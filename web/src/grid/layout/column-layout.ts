import type { SheetField } from '../../api/contract.ts'

/** A column with its position. */
export interface Column {
  readonly field: SheetField
  /** The index among the visible columns. */
  readonly index: number
  /** The distance from the left edge of the row in CSS pixels, before scrolling. */
  readonly left: number
  readonly width: number
  readonly isPinned: boolean
}

export interface ColumnLayout {
  /** The visible columns, pinned ones first. */
  readonly columns: readonly Column[]
  readonly pinned: readonly Column[]
  readonly others: readonly Column[]
  readonly indexByName: ReadonlyMap<string, number>
  /** The right edge of the row numbers and pinned columns. */
  readonly pinnedEnd: number
  readonly width: number
}

/** The maximum share of the width for pinned columns; beyond it, they scroll. */
const MAX_PINNED = 0.6

/** Lays out the columns from left to right after a gutter. */
export function layOutColumns(
  fields: { readonly pinned: readonly SheetField[]; readonly others: readonly SheetField[] },
  widthOf: (field: SheetField) => number,
  gutter: number,
  room: number,
): ColumnLayout {
  let left = gutter
  let stillPinned = true
  const columns = [...fields.pinned, ...fields.others].map((field, index): Column => {
    const width = widthOf(field)
    stillPinned &&= index < fields.pinned.length && left + width <= room * MAX_PINNED
    const column = { field, index, left, width, isPinned: stillPinned }
    left += width
    return column
  })
  const pinned = columns.filter(({ isPinned }) => isPinned)
  const last = pinned.at(-1)
  return {
    columns,
    pinned,
    others: columns.slice(pinned.length),
    indexByName: new Map(columns.map(({ field, index }) => [field.name, index])),
    pinnedEnd: last === undefined ? gutter : last.left + last.width,
    width: left,
  }
}

/**
 * Columns are rendered in steps of this many CSS pixels, with one step beyond the view on both sides, so that most
 * frames of horizontal scrolling render none.
 */
const STRETCH = 240

/** Returns the range of scrolling columns to render: from `first` to `end`, exclusive, of `others`. */
export function columnWindow(
  { others, pinnedEnd }: ColumnLayout,
  scrollLeft: number,
  room: number,
): { readonly first: number; readonly end: number } {
  const from = (Math.floor((scrollLeft + pinnedEnd) / STRETCH) - 1) * STRETCH
  const to = (Math.ceil((scrollLeft + room) / STRETCH) + 1) * STRETCH
  const first = firstAfter(others, from)
  let end = first
  while (end < others.length && (others[end]?.left ?? 0) < to) end += 1
  return { first, end }
}

/** Returns the column at a position in the viewport, or the nearest. */
export function columnAt(
  { pinned, others, pinnedEnd }: ColumnLayout,
  x: number,
  scrollLeft: number,
): Column | undefined {
  if (x < pinnedEnd && pinned.length > 0) return pinned[Math.min(firstAfter(pinned, x), pinned.length - 1)]
  const index = firstAfter(others, Math.max(x, pinnedEnd) + scrollLeft)
  return others[Math.min(index, others.length - 1)] ?? pinned.at(-1)
}

/** Returns the scroll position that shows a column with the least movement. */
export function scrollLeftToShow(
  layout: ColumnLayout,
  column: Column,
  scrollLeft: number,
  room: number,
): number {
  if (column.isPinned) return scrollLeft
  const start = column.left - layout.pinnedEnd
  if (start < scrollLeft || column.width > room - layout.pinnedEnd) return start
  return Math.max(scrollLeft, column.left + column.width - room)
}

/** Returns the index of the first column that ends after a position. */
function firstAfter(columns: readonly Column[], place: number): number {
  let low = 0
  let high = columns.length
  while (low < high) {
    const middle = (low + high) >> 1
    const column = columns[middle]
    if (column !== undefined && column.left + column.width > place) high = middle
    else low = middle + 1
  }
  return low
}

/** Moves a name before or after another. */
export function moveName(
  names: readonly string[],
  name: string,
  beside: string,
  side: 'before' | 'after',
): readonly string[] {
  if (name === beside) return names
  const rest = names.filter((each) => each !== name)
  const place = rest.indexOf(beside) + (side === 'after' ? 1 : 0)
  return rest.toSpliced(place, 0, name)
}
