import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { CHROMIUM, findProgram } from '../../scripts/test-programs.mjs'
import { watchGrid } from '../../test/support/grid-watch.ts'
import { writeWideSheet } from '../../test/support/wide-sheet.ts'
import type { Bench, BenchCase, BenchRow } from '../support/case.ts'
import { median } from '../support/load.ts'
import { serveSheet } from '../support/processes.ts'

const MOST_BLANK_MS = 150
const LEAST_FRAMES_PER_SECOND = 30
const MOST_FIRST_VIEW_MS = 1000
const FRAME_MS = 16
/** The greatest height of a scrolled element (web/src/grid/layout/scroll-scale.ts). */
const THUMB_RANGE = 8_000_000
const FIGURE = { kind: 'figure', table: 'also' } as const
const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'countries')

/** The viewer in Chromium: blank rows while records scroll, smoothness, and time to the first rows. */
export const viewer: BenchCase = {
  name: 'viewer',
  async *run(bench) {
    const executablePath = findProgram(CHROMIUM)
    if (executablePath === null) {
      process.stderr.write(`${CHROMIUM.name} is not on this machine: nothing measured\n`)
      return
    }
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-background-networking'],
    })
    try {
      yield* await blanks(browser, bench)
      yield sideways(browser, bench)
      yield firstView(browser, bench)
    } finally {
      await browser.close()
    }
  },
}

type Scroll = (page: Page) => Promise<void>

/** Returns the longest time in which some visible rows are missing, for each way to scroll. */
async function blanks(browser: Browser, { records, rounds, sheets }: Bench): Promise<BenchRow[]> {
  const name = records === 1_000_000 ? 'a million records' : `${records.toLocaleString('en')} records`
  const ways: Readonly<Record<string, Scroll>> = {
    [`Longest blank while scrolling ${name} by wheel`]: byWheel,
    'the same, dragging the scroll bar from end to end': byThumb,
    'the same, jumping anywhere': byJumps,
  }
  const directory = await sheets.shared(records)
  return withPage(browser, directory, async (page) => {
    const rows: BenchRow[] = []
    for (const [what, scroll] of Object.entries(ways)) {
      const blank: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const { longestBlankMs } = await watchGrid(page, () => scroll(page))
        blank.push(longestBlankMs)
      }
      rows.push({ ...FIGURE, what, unit: 'ms', value: Math.max(...blank), bound: { atMost: MOST_BLANK_MS } })
    }
    return rows
  })
}

async function byWheel(page: Page): Promise<void> {
  for (let turn = 0; turn < 120; turn += 1) {
    await page.mouse.wheel(0, 300)
    await sleep(FRAME_MS)
  }
}

async function byThumb(page: Page): Promise<void> {
  for (let turn = 1; turn <= 100; turn += 1) {
    await scrollTop(page, (turn / 100) * THUMB_RANGE)
    await sleep(FRAME_MS)
  }
}

async function byJumps(page: Page): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await scrollTop(page, (turn * 7_654_321) % THUMB_RANGE)
    await sleep(500)
  }
}

function scrollTop(page: Page, top: number): Promise<unknown> {
  return page.evaluate(`document.querySelector('[role=grid]').scrollTop = ${top}`)
}

async function sideways(browser: Browser, { rounds, sheets }: Bench): Promise<BenchRow> {
  const directory = sheets.directory('viewer-wide')
  writeWideSheet(directory, { columns: 200, records: 2000 })
  return withPage(browser, directory, async (page) => {
    const rates: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { frames, seconds } = await watchGrid(page, async () => {
        for (let turn = 0; turn < 160; turn += 1) {
          await page.mouse.wheel(turn < 80 ? 80 : -80, 0)
          await sleep(FRAME_MS)
        }
      })
      rates.push(frames / seconds)
    }
    return {
      ...FIGURE,
      what: 'Scrolling 200 columns sideways',
      unit: 'frames/s',
      value: median(rates),
      bound: { atLeast: LEAST_FRAMES_PER_SECOND },
    }
  })
}

/** Records when the first rows appear, in milliseconds since the navigation began. */
const NOTE_FIRST_ROWS = `(function look() {
  if (document.querySelector('.grid-row:not(.waiting)') === null) requestAnimationFrame(look)
  else window.firstRowsAt = performance.now()
})()`

/** Measures from the address to the first records, in a new browser profile. */
async function firstView(browser: Browser, { rounds, sheets }: Bench): Promise<BenchRow> {
  const directory = sheets.directory('viewer-countries')
  for (const name of ['contract.yaml', 'records.jsonl', 'transport.yaml', 'derivations']) {
    cpSync(join(EXAMPLE, name), join(directory, name), { recursive: true })
  }
  const sheet = await serveSheet(directory)
  try {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
      const page = await context.newPage()
      await page.addInitScript({ content: NOTE_FIRST_ROWS })
      await page.goto(sheet.url)
      await page.locator('.grid-row:not(.waiting)').first().waitFor()
      times.push(await page.evaluate<number>('firstRowsAt'))
      await context.close()
    }
    return {
      ...FIGURE,
      what: 'First records of the countries example in a new browser profile',
      unit: 'ms',
      value: median(times),
      bound: { atMost: MOST_FIRST_VIEW_MS },
    }
  } finally {
    await sheet.stop()
  }
}

/** Runs an action on the page of a sheet, once its columns have their charts. */
async function withPage<T>(
  browser: Browser,
  directory: string,
  action: (page: Page) => Promise<T>,
): Promise<T> {
  const sheet = await serveSheet(directory)
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(sheet.url)
    await page.locator('.grid-row:not(.waiting)').first().waitFor()
    await pictured(page)
    await page.mouse.move(700, 500)
    const done = await action(page)
    await page.close()
    return done
  } finally {
    await sheet.stop()
  }
}

/** Waits until each visible column has its chart, or the server has stopped computing it. */
async function pictured(page: Page): Promise<void> {
  for (;;) {
    const done = await page.locator('[data-summary], .column-summary.failed').count()
    if (done > 0 && done === (await page.locator('.grid-head-cell').count())) return
    await sleep(100)
  }
}
