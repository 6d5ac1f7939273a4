import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, settled, shows, Viewer } from '../support/viewer.ts'

const RUN_PATIENCE_MS = 180_000

test('the look of the grid', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open()
  const grid = page.getByRole('grid')
  const notice = page.getByRole('group', { name: 'Computed columns' })
  const german = page.getByRole('columnheader', { name: 'Name in German', exact: true })

  await t.test('is in the typeface that the server has', async () => {
    const isLoaded = await page.evaluate<boolean>(
      "document.fonts.check('14px \"Inter Variable\"', 'Andorra')",
    )
    assert.ok(isLoaded)
  })

  await t.test('has values of closed lists in the colours of their places, and blank cells', async () => {
    const chip = (row: number) => page.locator(`.grid-row[data-row="${row}"] .chip.listed`).first()
    await shows(chip(0), 'Europe')
    assert.equal(await chip(0).getAttribute('data-hue'), '4')
    assert.equal(await chip(1).getAttribute('data-hue'), '3')
    const empty = await cellAt(page, 8, 'Capital')
    assert.equal(await empty.locator('[aria-hidden]').isVisible(), false)
    await shows(empty, 'no value')
  })

  await t.test('says that columns are computed, which are out of view', async () => {
    await shows(notice.locator('span').first(), '12 computed columns · 2,988 empty')
    assert.equal(await german.count(), 0)
    await notice.getByRole('button', { name: 'Show them' }).click()
    await german.waitFor()
    await shows(german.locator('.column-states'), 'Not computed')
    await grid.evaluate((element) => (element.scrollLeft = 0))
    await german.waitFor({ state: 'detached' })
  })

  await t.test('scrolls to the columns of a run, which then have the share of fresh cells', async () => {
    await notice.getByRole('button', { name: 'Compute…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Run/ }).and(page.locator(':enabled')).click()
    await german.waitFor()
    await notice.waitFor({ state: 'detached' })
    // Thousands of cells take a busy machine its time.
    await eventually(
      async () => assert.equal(await german.locator('.column-states').innerText(), '100% fresh'),
      RUN_PATIENCE_MS,
    )
    const zones = page.getByRole('columnheader', { name: 'Time zones', exact: true })
    await shows(zones.locator('.column-states'), /^9\d\.\d% fresh · \d+ failed$/)
  })

  await t.test('outlines a range at its edges', async () => {
    await (await cellAt(page, 1, 'Name in German')).click()
    await (await cellAt(page, 2, 'Name in French')).click({ modifiers: ['Shift'] })
    const edges = async (row: number, title: string): Promise<string[]> =>
      ((await (await cellAt(page, row, title)).getAttribute('class')) ?? '')
        .split(' ')
        .filter((name) => name.startsWith('edge-'))
    await eventually(async () =>
      assert.deepEqual(await edges(1, 'Name in German'), ['edge-top', 'edge-left']),
    )
    assert.deepEqual(await edges(2, 'Name in French'), ['edge-bottom', 'edge-right'])
    assert.deepEqual(await edges(0, 'Name in German'), [])
  })

  await t.test('has rows in another height, which is remembered', async () => {
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('radio', { name: 'Tall' }).check()
    await page.keyboard.press('Escape')
    const height = async (): Promise<number | undefined> =>
      (await page.locator('.grid-row').first().boundingBox())?.height
    assert.equal(await height(), 56)
    await grid.press('Control+End')
    await page.locator('.grid-row[data-row="248"]').waitFor()
    await page.reload()
    await settled(page)
    assert.equal(await height(), 56)
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
