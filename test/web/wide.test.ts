import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { watchGrid } from '../support/grid-watch.ts'
import { cellAt, eventually, picture, settled, SheetViewer, shows } from '../support/viewer.ts'
import { wideSheet, wideValue } from '../support/wide-sheet.ts'

const COLUMNS = 200
/** The size of a window of 1280 by 800: some 32 rows of some 16 columns. */
const MOST_CELLS = 700

test('a sheet of 200 columns', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await wideSheet(t, { columns: COLUMNS, records: 2000 }))
  const page = await viewer.open()
  const grid = page.getByRole('grid')
  const heads = page.locator('.grid-head-cell')

  await t.test('has elements only near the visible columns', async () => {
    assert.equal(await grid.getAttribute('aria-colcount'), String(COLUMNS + 1))
    const drawn = await heads.count()
    assert.ok(drawn > 5 && drawn < 25, `${drawn} heads`)
  })

  await t.test('scrolls sideways with few cells, and always the right ones', async () => {
    await page.mouse.move(700, 500)
    const sight = await watchGrid(page, async () => {
      for (let turn = 0; turn < 40; turn += 1) {
        await page.mouse.wheel(300, 0)
        await page.evaluate('new Promise(requestAnimationFrame)')
      }
      for (const part of [0.9, 0.2, 0.5]) {
        await grid.evaluate((element, to) => (element.scrollLeft = to * element.scrollWidth), part)
        await page.evaluate('new Promise(requestAnimationFrame)')
      }
    })
    assert.ok(sight.mostCells > 100 && sight.mostCells < MOST_CELLS, `${sight.mostCells} cells`)
    assert.equal(sight.blankFrames, 0)
    const shown = await heads.evaluateAll((all) =>
      all
        .filter((head) => {
          const { left, right } = head.getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        })
        .map((head) => String(head.getAttribute('aria-label'))),
    )
    const texts = shown.filter((name) => name.startsWith('f') && Number(name.slice(1)) % 6 === 0)
    assert.ok(texts.length > 0, shown.join())
    for (const name of texts) {
      const cell = await cellAt(page, 3, name)
      await shows(cell, String(wideValue(3, Number(name.slice(1)))))
      // The cell stands below its head.
      const [head, box] = await Promise.all([
        page.getByRole('columnheader', { name, exact: true }).boundingBox(),
        cell.boundingBox(),
      ])
      assert.ok(head !== null && box !== null && Math.abs(head.x - box.x) < 1, name)
    }
  })

  await t.test('the keyboard goes to the last column and back', async () => {
    await grid.focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('End')
    await shows(await cellAt(page, 0, 'f199'), String(wideValue(0, 199)))
    await eventually(async () =>
      assert.equal(await grid.getAttribute('aria-activedescendant'), `cell-0-${COLUMNS - 1}`),
    )
    for (let turn = 0; turn < 30; turn += 1) await page.keyboard.press('ArrowLeft')
    await eventually(async () =>
      assert.equal(await grid.getAttribute('aria-activedescendant'), `cell-0-${COLUMNS - 31}`),
    )
    await page.getByRole('columnheader', { name: 'f169', exact: true }).waitFor()
    await picture(page, 'wide-light')
    await page.keyboard.press('Home')
    await shows(await cellAt(page, 0, 'f1'), String(wideValue(0, 1)))
  })

  await t.test('a column is found by its name, and hidden', async () => {
    await page.getByRole('button', { name: 'Columns' }).click()
    const popover = page.getByRole('dialog', { name: 'Columns' })
    await popover.getByRole('searchbox', { name: 'Find a column' }).fill('f17')
    await eventually(async () =>
      assert.equal(await popover.getByRole('checkbox', { name: /^f17/ }).count(), 11),
    )
    await popover.getByRole('checkbox', { name: 'f17', exact: true }).uncheck()
    await page.keyboard.press('Escape')
    await eventually(async () => assert.equal(await grid.getAttribute('aria-colcount'), String(COLUMNS)))
  })

  await t.test('only visible columns are summarized', async () => {
    const asked = new Set<string>()
    page.on('request', (request) => {
      const field = new URL(request.url()).searchParams.get('fields')
      if (request.url().includes('/api/summary?') && field !== null) asked.add(field)
    })
    await page.reload()
    await settled(page)
    const pictures = page.locator('[data-summary]')
    await eventually(async () => assert.equal(await pictures.count(), await heads.count()))
    assert.ok(asked.size > 0 && asked.size <= (await heads.count()), [...asked].join())
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
