/** Rows from `first` up to and without `end`. */
export interface RowRange {
  readonly first: number
  readonly end: number
}

/** The rows that are drawn. */
export interface RowWindow extends RowRange {
  /** How many there are when the list is long enough. */
  readonly size: number
}

/** Rows are drawn in steps of so many, so that most frames of a scroll draw none. */
const STEP = 4
/** Never more rows than this are on the page. */
const MOST_ROWS = 96

/** The rows to draw for an offset: those in sight, and a few around them. Always as many, as long as there are. */
export function rowWindow(offset: number, viewport: number, rowHeight: number, count: number): RowWindow {
  const size = Math.min(MOST_ROWS, (Math.ceil(viewport / rowHeight / STEP) + 3) * STEP)
  const first = Math.max(0, (Math.floor(offset / rowHeight / STEP) - 1) * STEP)
  return { first: Math.min(first, count), end: Math.min(first + size, count), size }
}

/** The rows that somebody sees some of at an offset. */
export function rowsInSight(offset: number, viewport: number, rowHeight: number, count: number): RowRange {
  return {
    first: Math.min(Math.floor(offset / rowHeight), count),
    end: Math.min(Math.ceil((offset + viewport) / rowHeight), count),
  }
}

/** The pages that rows are on. */
export function pagesOf({ first, end }: RowRange, pageSize: number): readonly number[] {
  if (end <= first) return []
  const from = Math.floor(first / pageSize)
  return Array.from({ length: Math.floor((end - 1) / pageSize) - from + 1 }, (_, index) => from + index)
}

/** So many rows at least are there before they come into sight. */
const ROWS_AHEAD = 200

/** The pages to have ready when the rows go on as they went. */
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
