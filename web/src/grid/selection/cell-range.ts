/** A place in the grid; row -1 is the heads of the columns. */
export interface Place {
  readonly row: number
  readonly column: number
}

/** What is selected: the cell that has the focus, and the cell where the range began. */
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

/** Goes to a place, or as far as there are cells; `extend` leaves the anchor where it is. */
export function moveTo(
  selection: CellSelection | null,
  wanted: Place,
  extend: boolean,
  { rows, columns }: Extent,
): CellSelection {
  // A range is of cells; only one head can be gone to.
  const least = extend ? 0 : HEAD_ROW
  const focus = {
    row: Math.max(least, Math.min(wanted.row, rows - 1)),
    column: Math.max(0, Math.min(wanted.column, columns - 1)),
  }
  const anchor = extend && selection !== null && selection.anchor.row !== HEAD_ROW ? selection.anchor : focus
  return { focus, anchor }
}

/** The next cell to the right, and on to the next row; left with `back`. Null at the very end. */
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
