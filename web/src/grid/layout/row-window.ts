/** Rows from `first` to `end`, exclusive. */
export interface RowRange {
  readonly first: number
  readonly end: number
}

/** The rendered rows. */
export interface RowWindow extends RowRange {
  /** The number of rendered rows in a list that is long enough. */
  readonly size: number
}

/** The rendered range moves in steps, so that most frames of a scroll render no rows. */
const STEP = 4
/** The maximum number of rendered rows. */
const MAX_ROWS = 96

/** Returns the rows to render at an offset: the visible ones and some around them, in a constant number. */
export function rowWindow(offset: number, viewport: number, rowHeight: number, count: number): RowWindow {
  const size = Math.min(MAX_ROWS, (Math.ceil(viewport / rowHeight / STEP) + 3) * STEP)
  const first = Math.max(0, (Math.floor(offset / rowHeight / STEP) - 1) * STEP)
  return { first: Math.min(first, count), end: Math.min(first + size, count), size }
}

/** Returns the rows that are visible, at least in part. */
export function visibleRows(offset: number, viewport: number, rowHeight: number, count: number): RowRange {
  return {
    first: Math.min(Math.floor(offset / rowHeight), count),
    end: Math.min(Math.ceil((offset + viewport) / rowHeight), count),
  }
}

/** Returns the pages that contain rows. */
export function pagesOf({ first, end }: RowRange, pageSize: number): readonly number[] {
  if (end <= first) return []
  const from = Math.floor(first / pageSize)
  return Array.from({ length: Math.floor((end - 1) / pageSize) - from + 1 }, (_, index) => from + index)
}

/** The minimum number of rows to load ahead. */
const ROWS_AHEAD = 200

/** Returns the pages to load ahead in the direction of scrolling. */
export function pagesAhead(
  shown: readonly number[],
  direction: 'up' | 'down',
  count: number,
  pageSize: number,
): readonly number[] {
  const [first] = shown
  const last = shown.at(-1)
  if (first === undefined || last === undefined) return []
  const ahead = Array.from({ length: Math.ceil(ROWS_AHEAD / pageSize) }, (_, index) =>
    direction === 'down' ? last + 1 + index : first - 1 - index,
  )
  return ahead.filter((page) => page >= 0 && page * pageSize < count)
}
