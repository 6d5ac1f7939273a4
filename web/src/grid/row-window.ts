/** Rows from `first` up to and without `end`. */
export interface RowWindow {
  readonly first: number
  readonly end: number
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

/** The pages that rows are on. */
export function pagesOf(
  { first, end }: Pick<RowWindow, 'first' | 'end'>,
  pageSize: number,
): readonly number[] {
  if (end <= first) return []
  const from = Math.floor(first / pageSize)
  return Array.from({ length: Math.floor((end - 1) / pageSize) - from + 1 }, (_, index) => from + index)
}

/** The pages to have ready when the rows go on as they went: two ahead. */
export function pagesAhead(
  shown: readonly number[],
  direction: 'up' | 'down',
  count: number,
  pageSize: number,
): readonly number[] {
  const [first] = shown
  const last = shown.at(-1)
  if (first === undefined || last === undefined) return []
  const ahead = direction === 'down' ? [last + 1, last + 2] : [first - 1, first - 2]
  return ahead.filter((page) => page >= 0 && page * pageSize < count)
}
