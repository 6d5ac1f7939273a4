import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, picture, settled, shows, SheetViewer, Viewer, visit } from '../support/viewer.ts'
import { wideSheet } from '../support/wide-sheet.ts'

/** The first row below the heads and its distance to them, and the horizontal scroll position. */
async function placeOf(page: Page): Promise<readonly [row: number, top: number, left: number]> {
  await settled(page)
  return page.getByRole('grid').evaluate((grid) => {
    const bottom = grid.querySelector('.grid-head')?.getBoundingClientRect().bottom ?? 0
    const rows = [...grid.querySelectorAll('.grid-row')].map((row) => ({
      row: Number(row.getAttribute('data-row')),
      top: row.getBoundingClientRect().top - bottom,
    }))
    const [first] = rows.filter(({ top }) => top > -30).toSorted((a, b) => a.top - b.top)
    return [first?.row ?? -1, Math.round(first?.top ?? 0), grid.scrollLeft] as const
  })
}

test('the list is where it was, after another page and after a reload', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await wideSheet(t, { columns: 30, records: 3000 }))
  const page = await viewer.open()
  await (await cellAt(page, 2, 'f1')).click()
  await eventually(() => assert.match(page.url(), /cell=w2/))
  await page.mouse.wheel(700, 2640 * 34 + 11)
  await eventually(async () => assert.ok((await placeOf(page))[0] > 2000))
  const before = await placeOf(page)
  assert.equal(before[2], 700)

  await t.test('the selected cell stays out of view', async () => {
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
    await page.getByRole('link', { name: 'Records' }).click()
    await eventually(async () => assert.deepEqual(await placeOf(page), before))
    await page.reload()
    await eventually(async () => assert.deepEqual(await placeOf(page), before))
    assert.match(page.url(), /cell=w2/)
  })

  await t.test('a link to another cell leads there', async () => {
    await visit(page, '/?cell=w1000~f1')
    await shows(await cellAt(page, 1000, 'f1'), '0')
  })

  await t.test('another list begins at its first row', async () => {
    await visit(page, '/?sort=-f1')
    await eventually(async () => assert.equal((await placeOf(page))[0], 0))
    await visit(page, '/')
    await eventually(async () => assert.equal((await placeOf(page))[0], 0))
  })
})

/** The right end of an element and of the window. */
function rightEnds(place: Locator): Promise<readonly [element: number, window: number]> {
  return place.evaluate((element) => {
    const inner = [...element.querySelectorAll('*')].filter((each) => each.closest('.run-status') === null)
    return [Math.max(...inner.map((each) => each.getBoundingClientRect().right)), innerWidth] as const
  })
}

test('small windows', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const contract = join(viewer.sheet.path, 'contract.yaml')
  const text = await readFile(contract, 'utf8')
  await writeFile(contract, text.replace('name: Countries', 'name: Countries and territories of the world'))
  const context = await viewer.newContext({ viewport: { width: 800, height: 700 } })
  await context.addInitScript(() =>
    localStorage.setItem('colophon.actor', '"human:alexandra.schmidt-hoffmann@example.com"'),
  )

  await t.test('the header fits, with long names and a run', async () => {
    viewer.gate.close()
    const page = await viewer.open('/', context)
    await viewer.post('/api/records', { records: [{ id: 'AD', capital: 'Andorra' }], actor: 'human:ann' })
    const running = page.getByRole('group', { name: /^Run \d+ is running$/ })
    const run = viewer.post('/api/materialize', { targets: ['currency_name'], actor: 'human:ann' })
    await running.waitFor()
    for (const width of [780, 800, 850, 900, 1000]) {
      await page.setViewportSize({ width, height: 700 })
      await settled(page)
      const [right, end] = await rightEnds(page.locator('.header'))
      assert.ok(right <= end, `${width}: ${right}`)
      for (const name of ['Records', 'Contract'])
        await page.getByRole('link', { name, exact: true }).click({ trial: true })
      await page.getByRole('button', { name: /^You are/ }).click({ trial: true })
    }
    await page.setViewportSize({ width: 800, height: 700 })
    await picture(page, 'small-header-light')
    viewer.gate.open()
    await run
  })

  await t.test('at 200 % zoom, the panel does not hide its cell', async () => {
    const page = await viewer.open('/', context)
    await page.setViewportSize({ width: 640, height: 400 })
    await (await cellAt(page, 1, 'Name')).click()
    await page.keyboard.press('Space')
    await page.getByRole('complementary', { name: 'Provenance' }).waitFor()
    await eventually(async () => {
      const isOnTop = await page.locator('.grid-cell.active').evaluate((cell) => {
        const { left, top, width, height } = cell.getBoundingClientRect()
        return [0.1, 0.5].every((part) =>
          cell.contains(document.elementFromPoint(left + part * width, top + height / 2)),
        )
      })
      assert.ok(isOnTop)
    })
    await picture(page, 'small-panel-light')
  })
})

test(
  'times are shown and edited in the zone of the browser, which is named',
  { skip: NO_BROWSER },
  async (t) => {
    const directory = await wideSheet(t, { columns: 2, records: 1 })
    const contract = join(directory, 'contract.yaml')
    await writeFile(
      contract,
      (await readFile(contract, 'utf8')).replace(
        'name: f1, logicalType: integer',
        'name: f1, logicalType: timestamp',
      ),
    )
    await writeFile(join(directory, 'records.jsonl'), '{"id":"w0","f1":"2022-06-18T18:11:12Z"}\n')
    const viewer = await SheetViewer.on(t, directory)
    const page = await viewer.open('/', await viewer.newContext({ timezoneId: 'Asia/Tokyo' }))
    const cell = await cellAt(page, 0, 'f1')
    await shows(cell, '2022-06-19 03:11:12')
    await page.getByRole('columnheader', { name: 'f1', exact: true }).getByText('Asia/Tokyo').waitFor()
    await cell.dblclick()
    const editor = page.getByRole('group', { name: 'Edit f1' })
    assert.equal(await editor.getByRole('textbox').inputValue(), '2022-06-19 03:11:12+09:00')
    await editor.getByRole('textbox').fill('2022-06-19 04:11:12Z')
    await shows(editor.getByRole('status'), '2022-06-19 13:11:12 · Asia/Tokyo')
    await picture(page, 'time-editor-light')
    await page.keyboard.press('Enter')
    await shows(cell, '2022-06-19 13:11:12')
  },
)
