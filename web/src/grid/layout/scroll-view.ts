import { columnWindow, type ColumnLayout } from './column-layout.ts'
import { rowWindow, type RowWindow } from './row-window.ts'

/** The visible part, from which rows and columns are rendered. */
export interface ScrollView {
  readonly rows: RowWindow
  /** The rows to load: the rendered ones, or those of a pending jump. */
  readonly wanted: RowWindow
  /** The range of the scrolling columns. */
  readonly columns: { readonly first: number; readonly end: number }
  /** The width of the viewport. */
  readonly width: number
  readonly height: number
  readonly direction: 'up' | 'down'
  /** The number of rows that fit into the viewport. */
  readonly pageRows: number
}

const NO_ROWS: RowWindow = { first: 0, end: 0, size: 0 }

export const NOTHING: ScrollView = {
  rows: NO_ROWS,
  wanted: NO_ROWS,
  columns: { first: 0, end: 0 },
  width: 0,
  height: 0,
  direction: 'down',
  pageRows: 1,
}

interface Situation {
  /** The present offset within all rows. */
  readonly offset: number
  /** The target offset. */
  readonly aim: number
  readonly direction: ScrollView['direction']
  /** The height of the visible rows. */
  readonly viewport: number
  /** The horizontal scroll position. */
  readonly left: number
  readonly count: number
  readonly rowHeight: number
  readonly layout: ColumnLayout | null
  readonly element: HTMLElement | null
}

/** Computes the rows and columns to render and to load. */
export function computeView(situation: Situation): ScrollView {
  const { offset, aim, direction, viewport, left, count, rowHeight, layout, element } = situation
  const { clientWidth: width = 0, clientHeight: height = 0 } = element ?? {}
  return {
    rows: rowWindow(offset, viewport, rowHeight, count),
    wanted: rowWindow(aim, viewport, rowHeight, count),
    columns: layout === null ? NOTHING.columns : columnWindow(layout, left, width),
    width,
    height,
    direction,
    pageRows: Math.max(1, Math.floor(viewport / rowHeight) - 1),
  }
}

/** Whether two views render and load the same. */
export function isSameView(a: ScrollView, b: ScrollView): boolean {
  return (
    isSameWindow(a.rows, b.rows) &&
    isSameWindow(a.wanted, b.wanted) &&
    a.columns.first === b.columns.first &&
    a.columns.end === b.columns.end &&
    a.width === b.width &&
    a.height === b.height
  )
}

function isSameWindow(a: RowWindow, b: RowWindow): boolean {
  return a.first === b.first && a.end === b.end && a.size === b.size
}
