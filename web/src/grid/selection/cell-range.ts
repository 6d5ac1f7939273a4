/** A position in the grid; row -1 is the column heads. */
export interface Place {
  readonly row: number
  readonly column: number
}

/** The active cell and the anchor of the range. */
export interface CellSelection {
  readonly focus: Place
  readonly anchor: Place
}

export interface CellRange {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly right: number
}

export const HEAD_ROW = -1

export interface Extent {
  readonly rows: number
  readonly columns: number
}

export function selectPlace(place: Place): CellSelection {
  return { focus: place, anchor: place }
}

export function rangeOf({ focus, anchor }: CellSelection): CellRange {
  return {
    top: Math.min(focus.row, anchor.row),
    bottom: Math.max(focus.row, anchor.row),
    left: Math.min(focus.column, anchor.column),
    right: Math.max(focus.column, anchor.column),
  }
}

export function isSingle({ focus, anchor }: CellSelection): boolean {
  return focus.row === anchor.row && focus.column === anchor.column
}

/** Moves to a position, limited to the grid; `extend` keeps the anchor. */
export function moveTo(
  selection: CellSelection | null,
  wanted: Place,
  extend: boolean,
  { rows, columns }: Extent,
): CellSelection {
  // Heads cannot be in a range.
  const least = extend ? 0 : HEAD_ROW
  const focus = {
    row: Math.max(least, Math.min(wanted.row, rows - 1)),
    column: Math.max(0, Math.min(wanted.column, columns - 1)),
  }
  const anchor = extend && selection !== null && selection.anchor.row !== HEAD_ROW ? selection.anchor : focus
  return { focus, anchor }
}

/** Returns the next cell in reading order, or with `back` the previous one; null at the end. */
export function nextInReadingOrder(
  { focus }: CellSelection,
  back: boolean,
  extent: Extent,
): CellSelection | null {
  const step = back ? -1 : 1
  const column = focus.column + step
  if (column >= 0 && column < extent.columns) return selectPlace({ row: focus.row, column })
  const row = focus.row + step
  if (row < HEAD_ROW || row >= extent.rows) return null
  return selectPlace({ row, column: back ? extent.columns - 1 : 0 })
}
