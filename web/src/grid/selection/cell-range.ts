/** A position in the grid; row -1 is the column heads. */
export interface Place {
  readonly row: number
  readonly column: number
}

/** The selected range. */
export interface CellSelection {
  /** The active cell, where the range began. */
  readonly focus: Place
  /** The opposite corner, which moves when the range is extended. */
  readonly end: Place
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
  return { focus: place, end: place }
}

export function rangeOf({ focus, end }: CellSelection): CellRange {
  return {
    top: Math.min(focus.row, end.row),
    bottom: Math.max(focus.row, end.row),
    left: Math.min(focus.column, end.column),
    right: Math.max(focus.column, end.column),
  }
}

export function isSingle({ focus, end }: CellSelection): boolean {
  return focus.row === end.row && focus.column === end.column
}

/** The place of a row in a range: its first row, its last, both, or between. */
export type RangePlace = 'top' | 'bottom' | 'only' | 'between'

/** Returns the place of a row in a range; null outside of it. */
export function placeInRange({ top, bottom }: CellRange, row: number): RangePlace | null {
  if (row < top || row > bottom) return null
  if (row === top) return row === bottom ? 'only' : 'top'
  return row === bottom ? 'bottom' : 'between'
}

/** Moves to a position, limited to the grid; `extend` keeps the active cell. */
export function moveTo(
  selection: CellSelection | null,
  wanted: Place,
  extend: boolean,
  { rows, columns }: Extent,
): CellSelection {
  // Heads cannot be in a range.
  const least = extend ? 0 : HEAD_ROW
  const end = {
    row: Math.max(least, Math.min(wanted.row, rows - 1)),
    column: Math.max(0, Math.min(wanted.column, columns - 1)),
  }
  const focus = extend && selection !== null && selection.focus.row !== HEAD_ROW ? selection.focus : end
  return { focus, end }
}

/** Returns the range extended to a cell, in the direction in which the cell is farther away. */
export function extendedTo(range: CellRange, { row, column }: Place): CellRange {
  const [up, down] = [range.top - row, row - range.bottom]
  const [left, right] = [range.left - column, column - range.right]
  const most = Math.max(up, down, left, right)
  if (most <= 0) return range
  if (most === down) return { ...range, bottom: row }
  if (most === up) return { ...range, top: row }
  return most === right ? { ...range, right: column } : { ...range, left: column }
}

/** Whether a cell is in a range. */
export function includes({ top, bottom, left, right }: CellRange, { row, column }: Place): boolean {
  return row >= top && row <= bottom && column >= left && column <= right
}

/** Whether a selection has all cells of a row, of several columns, so that it is about the record. */
export function hasWholeRow(selection: CellSelection | null, row: number, { columns }: Extent): boolean {
  if (selection === null || selection.focus.row === HEAD_ROW || columns < 2) return false
  const range = rangeOf(selection)
  return includes(range, { row, column: 0 }) && includes(range, { row, column: columns - 1 })
}

/** Selects all cells of a row. */
export function selectRow(row: number, { columns }: Extent): CellSelection {
  return { focus: { row, column: 0 }, end: { row, column: columns - 1 } }
}

/** The number of cells of a range. */
export function sizeOf({ top, bottom, left, right }: CellRange): number {
  return (bottom - top + 1) * (right - left + 1)
}

/** Selects a whole column of cells; with `extend`, all columns from that of the active cell. */
export function selectColumn(
  selection: CellSelection | null,
  column: number,
  extend: boolean,
  { rows }: Extent,
): CellSelection {
  if (rows === 0) return selectPlace({ row: HEAD_ROW, column })
  const first = extend && selection !== null ? selection.focus.column : column
  return { focus: { row: 0, column: first }, end: { row: rows - 1, column } }
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
