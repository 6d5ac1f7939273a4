import type { SheetField } from '../../api/contract.ts'

/** A column, and where it is. */
export interface Column {
  readonly field: SheetField
  /** Among all columns that are shown, from 0. */
  readonly index: number
  /** From the left edge of the row, in CSS pixels, when nothing is scrolled. */
  readonly left: number
  readonly width: number
  readonly isPinned: boolean
}

export interface ColumnLayout {
  /** Pinned ones first. */
  readonly columns: readonly Column[]
  readonly pinned: readonly Column[]
  readonly others: readonly Column[]
  readonly indexByName: ReadonlyMap<string, number>
  /** Of the row numbers and the pinned columns: what the others scroll beneath. */
  readonly pinnedEnd: number
  readonly width: number
}

/** Pinned columns may take so much of the room; where they would take more, they scroll with the rest. */
const MOST_PINNED = 0.6

/** Lays columns out from left to right, after a gutter. */
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
    stillPinned &&= index < fields.pinned.length && left + width <= room * MOST_PINNED
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
 * Columns are drawn by stretches of so many CSS pixels, and one stretch beyond what is in sight on either side: most
 * frames of a sideways scroll draw none.
 */
const STRETCH = 240

/** The columns that scroll and are in sight, or nearly so: from `first` up to and without `end` of `others`. */
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

/** The column at a place of the viewport; the nearest where there is none. */
export function columnAt(
  { pinned, others, pinnedEnd }: ColumnLayout,
  x: number,
  scrollLeft: number,
): Column | undefined {
  if (x < pinnedEnd && pinned.length > 0) return pinned[Math.min(firstAfter(pinned, x), pinned.length - 1)]
  const index = firstAfter(others, Math.max(x, pinnedEnd) + scrollLeft)
  return others[Math.min(index, others.length - 1)] ?? pinned.at(-1)
}

/** The scroll position that shows a column, moved no more than it must be. */
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

/** The index of the first column that ends after a place. */
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

/** All names in order, with one put before or after another. */
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
