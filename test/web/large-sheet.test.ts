import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { watchGrid, type GridSight } from '../support/grid-watch.ts'
import { CITIES, largeRecord, largeSheet, placeOfRank } from '../support/large-sheet.ts'
import { QUERY_LIMITS } from '../support/serve-here.ts'
import { eventually, picture, settled, SheetViewer, shows } from '../support/viewer.ts'

/**
 * A multiple of 8, the number of cities. Long tests take a million, whose rows are taller than what a browser can scroll;
 * the arithmetic of that has tests of its own (web/src/grid/layout/scroll-scale.test.ts).
 */
const COUNT = Number(process.env['COLOPHON_LARGE_RECORDS'] ?? 24_000)
const OF_A_CITY = COUNT / CITIES.length
const shown = (count: number): string => count.toLocaleString('en')
/** Sorting a million records, as long tests do, takes the server some seconds, on a machine that does other things more. */
const SERVER_PATIENCE_MS = 120_000
/** Most of it is for making the sheet. */
const TEST_PATIENCE_MS = 600_000

/** The records that a sight shows are those of the generator. */
function assertRight({ keys, changed }: GridSight, placeAt: (row: number) => number): void {
  for (const [row, key] of Object.entries(keys)) {
    assert.equal(key, largeRecord(placeAt(Number(row)), COUNT).id, `row ${row}`)
  }
  assert.deepEqual(changed, [])
}

function assertFewRows({ mostRows, frames }: GridSight): void {
  assert.ok(frames > 0)
  assert.ok(mostRows > 10 && mostRows < 100, `${mostRows} rows`)
}

/** Waits until the rows in sight are there, and answers with the numbers of the first and the last, from 0. */
async function rowsInSight(page: Page, patience?: number): Promise<readonly [number, number]> {
  let found: readonly [number, number] = [0, 0]
  await eventually(async () => {
    assert.equal(await page.locator('.grid-row.waiting').count(), 0)
    const rows = await page
      .locator('.grid-row')
      .evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-row'))))
    found = [Math.min(...rows), Math.max(...rows)]
  }, patience)
  return found
}

/** Asserts that all cells of a row show what the generator has. */
async function assertRow(page: Page, row: number, place: number): Promise<void> {
  const record = largeRecord(place, COUNT)
  const cells = page.locator(`.grid-row[data-row="${row}"] .grid-cell`)
  await shows(cells.nth(0), record.id)
  await shows(cells.nth(1), record.name)
  await shows(cells.nth(2), record.city)
  await shows(cells.nth(3), record.amount.toLocaleString('en'))
  await shows(cells.nth(4), record.rank.toLocaleString('en'))
}

/** Drags the scroll bar to a part of its way. */
async function scrollTo(page: Page, part: number): Promise<void> {
  await page
    .getByRole('grid')
    .evaluate((element, to) => (element.scrollTop = to * (element.scrollHeight - element.clientHeight)), part)
}

async function goTo(page: Page, number: number): Promise<void> {
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+g')
  await page.getByRole('spinbutton', { name: 'Record number' }).fill(String(number))
  await page.keyboard.press('Enter')
  await page.locator('.grid-input :focus').waitFor()
}

test(`${shown(COUNT)} records`, { skip: NO_BROWSER, timeout: TEST_PATIENCE_MS }, async (t) => {
  const directory = await largeSheet(t, COUNT)
  const patient = { ...QUERY_LIMITS, timeoutMs: SERVER_PATIENCE_MS }
  const viewer = await SheetViewer.on(t, directory, { queryLimits: patient })
  const page = await viewer.open()
  const grid = page.getByRole('grid')
  const count = page.locator('.match-count')
  const inCreationOrder = (row: number): number => row

  await t.test('are counted, and the first are shown', async () => {
    await shows(count, `${shown(COUNT)} records`)
    assert.equal(await grid.getAttribute('aria-rowcount'), String(COUNT + 1))
    await assertRow(page, 0, 0)
    await picture(page, 'large-light')
  })

  await t.test('are prefetched for the wheel, few of them as elements', async () => {
    await page.mouse.move(640, 500)
    const sight = await watchGrid(page, async () => {
      for (let turn = 0; turn < 40; turn += 1) {
        await page.mouse.wheel(0, 120)
        await page.evaluate('new Promise(requestAnimationFrame)')
      }
    })
    assertFewRows(sight)
    assertRight(sight, inCreationOrder)
    const [, last] = await rowsInSight(page)
    assert.ok(last > 100, `row ${last}`)
    assert.equal(sight.blankFrames, 0)
  })

  await t.test('are reached anywhere by the scroll bar', async () => {
    const sight = await watchGrid(page, async () => {
      for (const part of [0.1, 0.12, 0.14, 0.5, 0.51, 0.9, 0.3, 1]) {
        await scrollTo(page, part)
        await page.evaluate('new Promise(requestAnimationFrame)')
      }
      await eventually(async () => assert.equal((await rowsInSight(page))[1], COUNT - 1))
    })
    assertFewRows(sight)
    assertRight(sight, inCreationOrder)
    await scrollTo(page, 0.37)
    await eventually(async () => {
      const [first] = await rowsInSight(page)
      assert.ok(Math.abs(first - 0.37 * COUNT) < 100, `row ${first}`)
    })
    const [first] = await rowsInSight(page)
    await assertRow(page, first + 6, first + 6)
  })

  await t.test('are reached by the keyboard, to the end, page by page, and back', async () => {
    await grid.focus()
    const sight = await watchGrid(page, async () => {
      await page.keyboard.press('Control+End')
      await eventually(async () => assert.equal((await rowsInSight(page))[1], COUNT - 1))
      await page.keyboard.press('Home')
      await assertRow(page, COUNT - 1, COUNT - 1)
      for (let turn = 0; turn < 10; turn += 1) await page.keyboard.press('PageUp')
      await page.keyboard.press('Control+Home')
      for (let turn = 0; turn < 30; turn += 1) await page.keyboard.press('PageDown')
      await eventually(async () => assert.ok((await rowsInSight(page))[1] > 300))
    })
    assertFewRows(sight)
    assertRight(sight, inCreationOrder)
  })

  await t.test('are reached by number in the dialog, the last one included', async () => {
    for (const number of [Math.round(0.734512 * COUNT), 1, COUNT, COUNT / 2]) {
      await goTo(page, number)
      await eventually(async () =>
        assert.match(
          (await grid.getAttribute('aria-activedescendant')) ?? '',
          new RegExp(`^cell-${number - 1}-`),
        ),
      )
      await assertRow(page, number - 1, number - 1)
    }
  })

  await t.test('are sorted, and a missing row is marked and never shows another record', async () => {
    const byRank = (row: number): number => placeOfRank(row, COUNT)
    await page.goto(`${viewer.url}/?sort=rank`)
    await rowsInSight(page, SERVER_PATIENCE_MS)
    await assertRow(page, 3, byRank(3))
    await page.mouse.move(640, 500)
    const sight = await watchGrid(page, async () => {
      const seen = Promise.withResolvers<void>()
      const held = (url: URL): boolean => url.searchParams.has('position')
      await page.route(held, (route) => seen.promise.then(() => route.continue()))
      await scrollTo(page, 0.6)
      await page.locator('.grid-row.waiting').first().waitFor()
      assert.equal(await grid.getAttribute('aria-busy'), 'true')
      seen.resolve()
      await rowsInSight(page, SERVER_PATIENCE_MS)
    })
    assertFewRows(sight)
    assertRight(sight, byRank)
    assert.equal(await grid.getAttribute('aria-busy'), 'false')
    const [first] = await rowsInSight(page)
    assert.ok(Math.abs(first - 0.6 * COUNT) < 100, `row ${first}`)
    await assertRow(page, first + 6, byRank(first + 6))
  })

  await t.test('are read from a known position by its cursor', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(decodeURIComponent(request.url())))
    const [before] = await rowsInSight(page)
    const sight = await watchGrid(page, async () => {
      for (let turn = 0; turn < 30; turn += 1) {
        await page.mouse.wheel(0, 340)
        await page.evaluate('new Promise(requestAnimationFrame)')
      }
      await rowsInSight(page, SERVER_PATIENCE_MS)
    })
    assertRight(sight, (row) => placeOfRank(row, COUNT))
    const [first] = await rowsInSight(page)
    assert.ok(first > before + 150, `from row ${before} to ${first}`)
    const pages = asked.filter((url) => url.includes('/api/records?'))
    assert.ok(pages.length > 0)
    assert.deepEqual(
      pages.filter((url) => url.includes('position=')),
      [],
    )
  })

  await t.test('are filtered and counted', async () => {
    const where = [{ field: 'city', is: 'anyOf', value: [CITIES[1]] }]
    await page.goto(`${viewer.url}/?where=${encodeURIComponent(JSON.stringify(where))}`)
    await shows(count, `${shown(OF_A_CITY)} of ${shown(COUNT)} records`)
    await rowsInSight(page)
    const places = Array.from({ length: COUNT }, (_, place) => place).filter(
      (place) => CITIES[(place * 5) % CITIES.length] === CITIES[1],
    )
    assert.equal(places.length, OF_A_CITY)
    await assertRow(page, 5, places[5] ?? -1)
    await goTo(page, OF_A_CITY)
    await assertRow(page, OF_A_CITY - 1, places.at(-1) ?? -1)
  })

  await t.test('have a summary for each column', async () => {
    await page.goto(viewer.url)
    await settled(page)
    const heads = page.locator('.grid-head-cell')
    assert.ok((await heads.count()) > 5)
    await eventually(async () => {
      assert.equal(await page.locator('[data-summary]').count(), await heads.count())
    }, SERVER_PATIENCE_MS)
    const city = page.getByRole('columnheader', { name: 'city', exact: true })
    await city.getByRole('option', { name: new RegExp(`^Aarhus: ${shown(OF_A_CITY)} `) }).waitFor()
    await picture(page, 'large-pictures-light')
  })

  await t.test('show when the server takes too long, and can be requested again', async () => {
    const hasty = await SheetViewer.on(t, directory, { queryLimits: { ...QUERY_LIMITS, timeoutMs: 1 } })
    const other = await hasty.open()
    await shows(other.locator('.match-count'), `${shown(COUNT)} records`)
    await assertRow(other, 0, 0)
    const name = other.getByRole('columnheader', { name: 'name', exact: true })
    const again = name.getByRole('button', { name: 'name cannot be summarized. Try again' })
    await again.waitFor({ timeout: SERVER_PATIENCE_MS })
    await eventually(async () => {
      const why = (await again.getAttribute('title')) ?? ''
      // On a busy machine it may have waited for its turn in vain.
      if (why.includes('too many queries')) await again.click()
      assert.match(why, /took longer than 0\.001 s/)
    }, SERVER_PATIENCE_MS)
    await shows(again, 'takes too long')
    await picture(other, 'large-hasty-light')
    await other.goto(`${hasty.url}/?sort=note,-name`)
    const fault = other.getByRole('main').getByRole('alert')
    await eventually(async () => {
      const why = await fault.innerText()
      if (why.includes('too many queries')) await other.reload()
      assert.match(why, /took longer than 0\.001 s/)
    }, SERVER_PATIENCE_MS)
    assert.equal(await other.locator('.grid-row').count(), 0)
    await fault.getByRole('button', { name: 'Clear the sort order' }).click()
    await assertRow(other, 0, 0)
    hasty.assertCalm()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
