import type { Page } from 'playwright-core'

/** Observations of the grid, frame by frame, since the watch began. */
export interface GridSight {
  readonly frames: number
  readonly seconds: number
  /** The longest time between two frames. */
  readonly longestFrameMs: number
  /** The most rows, and the most of their cells, with an element. */
  readonly mostRows: number
  readonly mostCells: number
  /** Frames in which some of the visible rows were missing. */
  readonly blankFrames: number
  /** The longest time in which some of the visible rows were missing. */
  readonly longestBlankMs: number
  /** Visible rows with a record, by their numbers from 0, with the key shown. */
  readonly keys: Readonly<Record<string, string>>
  /** Rows that were shown with two keys. */
  readonly changed: readonly string[]
}

/** Inspects the grid before each frame, until it is stopped. */
const WATCH = `(() => {
  const sight = { frames: 0, seconds: 0, longestFrameMs: 0, mostRows: 0, mostCells: 0, blankFrames: 0, longestBlankMs: 0, keys: {}, changed: [] }
  const begin = performance.now()
  let last = begin
  let blankSince = null
  let frame = 0
  const look = () => {
    frame = requestAnimationFrame(look)
    const now = performance.now()
    sight.frames += 1
    sight.seconds = (now - begin) / 1000
    sight.longestFrameMs = Math.max(sight.longestFrameMs, now - last)
    last = now
    const body = document.querySelector('.grid-body')
    if (body === null) return
    const box = body.getBoundingClientRect()
    const rows = [...body.querySelectorAll('.grid-row')]
    sight.mostRows = Math.max(sight.mostRows, rows.length)
    sight.mostCells = Math.max(sight.mostCells, body.querySelectorAll('.grid-cell').length)
    const start = body.querySelector('.grid-rows').getBoundingClientRect().top
    const places = rows.map((row) => Number(row.dataset.row))
    const first = Math.min(...places)
    const height = rows[0]?.offsetHeight ?? 34
    const inSight = rows.filter((row, index) => {
      const top = start + (places[index] - first) * height
      return top + height > box.top + 1 && top < box.bottom - 1
    })
    const count = Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1
    const isCovered = start <= box.top + 1 && (start + rows.length * height >= box.bottom - 1 || first + rows.length >= count)
    const isBlank = !isCovered || inSight.some((row) => row.classList.contains('waiting'))
    if (isBlank) {
      sight.blankFrames += 1
      blankSince ??= now
      sight.longestBlankMs = Math.max(sight.longestBlankMs, now - blankSince)
    } else {
      if (blankSince !== null) sight.longestBlankMs = Math.max(sight.longestBlankMs, now - blankSince)
      blankSince = null
    }
    for (const row of inSight) {
      if (row.classList.contains('waiting')) continue
      const key = row.querySelector('.grid-cell.key')?.textContent ?? ''
      const before = sight.keys[row.dataset.row]
      if (before !== undefined && before !== key) sight.changed.push(row.dataset.row + ': ' + before + ', ' + key)
      sight.keys[row.dataset.row] = key
    }
  }
  frame = requestAnimationFrame(look)
  window.gridWatch = { sight, stop: () => cancelAnimationFrame(frame) }
})()`

/** Watches the grid of a page during an action. */
export async function watchGrid(page: Page, action: () => Promise<unknown>): Promise<GridSight> {
  await page.evaluate(WATCH)
  await action()
  return page.evaluate<GridSight>('(gridWatch.stop(), gridWatch.sight)')
}
