import type { SheetField } from '../../api/contract.ts'
import { defaultFormat, type ColumnFormat } from '../../values/column-format.ts'

/** A column with its position. */
export interface Column {
  readonly field: SheetField
  /** The index among the visible columns. */
  readonly index: number
  /** The distance from the left edge of the row in CSS pixels, before scrolling. */
  readonly left: number
  readonly width: number
  readonly format: ColumnFormat
  readonly isPinned: boolean
}

/** Space among the scrolling columns for columns that do not exist yet. */
export interface GhostSpace {
  /** The index among `others` before which it is. */
  readonly index: number
  readonly left: number
  readonly width: number
}

/** Space that is no column. */
export interface ExtraSpace {
  /** Before the scrolling column of this name, at the end for null; undefined for none. */
  readonly ghostBefore?: string | null | undefined
  readonly ghostWidth: number
  /** The width after the last column. */
  readonly tail: number
}

export interface ColumnLayout {
  /** The visible columns, pinned ones first. */
  readonly columns: readonly Column[]
  readonly pinned: readonly Column[]
  readonly others: readonly Column[]
  readonly indexByName: ReadonlyMap<string, number>
  /** The right edge of the row numbers and pinned columns. */
  readonly pinnedEnd: number
  readonly ghost: GhostSpace | null
  /** The right edge of the last column. */
  readonly end: number
  /** The width with the space after it. */
  readonly width: number
}

const NO_SPACE: ExtraSpace = { ghostWidth: 0, tail: 0 }

/** The maximum share of the width for pinned columns; beyond it, they scroll. */
const MAX_PINNED = 0.6

/** Lays out the columns from left to right after a gutter. */
export function layOutColumns(
  fields: { readonly pinned: readonly SheetField[]; readonly others: readonly SheetField[] },
  widthOf: (field: SheetField) => number,
  gutter: number,
  room: number,
  { ghostBefore, ghostWidth, tail }: ExtraSpace = NO_SPACE,
  formatOf: (field: SheetField) => ColumnFormat = defaultFormat,
): ColumnLayout {
  let left = gutter
  let ghostLeft: number | null = null
  let stillPinned = true
  const columns = [...fields.pinned, ...fields.others].map((field, index): Column => {
    const width = widthOf(field)
    stillPinned &&= index < fields.pinned.length && left + width <= room * MAX_PINNED
    if (!stillPinned && ghostLeft === null && field.name === ghostBefore) {
      ghostLeft = left
      left += ghostWidth
    }
    const column = { field, index, left, width, format: formatOf(field), isPinned: stillPinned }
    left += width
    return column
  })
  const pinned = columns.filter(({ isPinned }) => isPinned)
  const others = columns.slice(pinned.length)
  const last = pinned.at(-1)
  if (ghostBefore !== undefined && ghostLeft === null) {
    ghostLeft = left
    left += ghostWidth
  }
  const ghostIndex = others.findIndex((column) => column.left > (ghostLeft ?? 0))
  return {
    columns,
    pinned,
    others,
    indexByName: new Map(columns.map(({ field, index }) => [field.name, index])),
    pinnedEnd: last === undefined ? gutter : last.left + last.width,
    ghost:
      ghostLeft === null
        ? null
        : { index: ghostIndex === -1 ? others.length : ghostIndex, left: ghostLeft, width: ghostWidth },
    end: left,
    width: left + tail,
  }
}

/** Whether the ghost is among the rendered columns, from `first` to `end`, exclusive. */
export function drawsGhost({ ghost, others }: ColumnLayout, first: number, end: number): boolean {
  if (ghost === null) return false
  // Before the first rendered column it is only rendered where no column is before it.
  return (ghost.index > first || first === 0) && (ghost.index < end || end === others.length)
}

/** The left edge of what is rendered of the scrolling columns. */
export function stripLeft(layout: ColumnLayout, first: number, end: number): number {
  if (layout.ghost !== null && drawsGhost(layout, first, end) && layout.ghost.index === first)
    return layout.ghost.left
  return layout.others[first]?.left ?? layout.pinnedEnd
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
  const visible = visibleWidth(layout, room)
  if (start < scrollLeft || column.width > visible - layout.pinnedEnd) return start
  return Math.max(scrollLeft, column.left + column.width - visible)
}

/** The part of the width in which columns are visible: beside the space after the last one, which stays in view. */
export function visibleWidth({ width, end }: ColumnLayout, room: number): number {
  return room - (width - end)
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
