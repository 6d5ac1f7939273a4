import { columnWindow, type ColumnLayout } from './column-layout.ts'
import { rowWindow, type RowWindow } from './row-window.ts'

/** As `--row` in ui/tokens.css. */
export const ROW_HEIGHT = 34

/** What the rows are drawn by. */
export interface ScrollView {
  readonly rows: RowWindow
  /** The rows to have: those that are drawn, or those that somebody jumped to and that are waited for. */
  readonly wanted: RowWindow
  /** Of the columns that scroll. */
  readonly columns: { readonly first: number; readonly end: number }
  /** Of what is seen, with the heads. */
  readonly width: number
  readonly height: number
  readonly direction: 'up' | 'down'
  /** Rows that are in sight at once. */
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
  /** Of what is shown within all rows. */
  readonly offset: number
  /** The offset to come to. */
  readonly aim: number
  readonly direction: ScrollView['direction']
  /** The height of the rows that are seen. */
  readonly viewport: number
  /** How far the columns are scrolled. */
  readonly left: number
  readonly count: number
  readonly layout: ColumnLayout | null
  readonly element: HTMLElement | null
}

/** What is to be drawn and read. */
export function lookAt(situation: Situation): ScrollView {
  const { offset, aim, direction, viewport, left, count, layout, element } = situation
  const { clientWidth: width = 0, clientHeight: height = 0 } = element ?? {}
  return {
    rows: rowWindow(offset, viewport, ROW_HEIGHT, count),
    wanted: rowWindow(aim, viewport, ROW_HEIGHT, count),
    columns: layout === null ? NOTHING.columns : columnWindow(layout, left, width),
    width,
    height,
    direction,
    pageRows: Math.max(1, Math.floor(viewport / ROW_HEIGHT) - 1),
  }
}

/** Whether nothing is to be drawn or read that was not before. */
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
