import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { openMenu } from '../support/panels.ts'
import {
  cellAt,
  eventually,
  hoverHead,
  picture,
  scrollSideways,
  settled,
  shows,
  Viewer,
  visit,
} from '../support/viewer.ts'

test('sorting, filtering and the address bar', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open()
  const grid = page.getByRole('grid')
  const count = page.locator('.match-count')

  await t.test('the sort button of a head sorts, and reverses when it is pressed again', async () => {
    // The head is at the right edge, below the button that adds a column.
    await scrollSideways(page, 200)
    const head = await hoverHead(page, 'Area')
    await head.getByRole('button', { name: 'Sort by Area' }).click()
    await eventually(async () => assert.equal(await head.getAttribute('aria-sort'), 'ascending'))
    await head.getByRole('button', { name: 'Sort by Area' }).click()
    await eventually(async () => assert.equal(await head.getAttribute('aria-sort'), 'descending'))
    await shows(await cellAt(page, 0, 'Name'), 'Russia')
    assert.equal(new URL(page.url()).searchParams.get('sort'), '-area')
  })

  await t.test('a click on a head selects the column', async () => {
    const head = page.getByRole('columnheader', { name: 'Area', exact: true })
    await head.getByRole('button', { name: 'Area', exact: true }).click()
    for (const row of [0, 5]) {
      const cell = await cellAt(page, row, 'Area')
      await eventually(async () => assert.equal(await cell.getAttribute('aria-selected'), 'true'))
    }
    assert.equal(
      await grid.getAttribute('aria-activedescendant'),
      `cell-0-${Number(await head.getAttribute('aria-colindex')) - 2}`,
    )
  })

  await t.test('the selected cells are counted and added up', async () => {
    const bar = page.getByRole('group', { name: 'Selected cells' })
    await shows(bar, '249 cells (249 × 1) Filled 248 Sum 150,073,894.66 Average 605,136.67')
    await (await cellAt(page, 0, 'Area')).click()
    await bar.waitFor({ state: 'detached' })
    await page.keyboard.press('Shift+ArrowDown')
    await shows(bar, '2 cells (2 × 1) Filled 2 Sum 31,098,242 Average 15,549,121')
  })

  await t.test('a head sorts by keyboard', async () => {
    await grid.focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    const head = page.getByRole('columnheader', { name: 'Name', exact: true })
    await eventually(async () => assert.equal(await head.getAttribute('aria-sort'), 'ascending'))
    await shows(await cellAt(page, 0, 'Name'), 'Afghanistan')
  })

  await t.test('a condition filters, by keyboard alone', async () => {
    await page.keyboard.press('/')
    await page.getByRole('dialog', { name: 'Add a filter: which field?' }).waitFor()
    await page.keyboard.type('area')
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Add a filter on Area' })
    await form.getByLabel('Operator').selectOption('above')
    await form.locator('input').first().fill('5000000')
    await page.keyboard.press('Enter')
    await shows(count, '7 of 249 records')
    await picture(page, 'filtered-light')
  })

  await t.test('the address bar restores the view', async () => {
    await page.reload()
    await settled(page)
    await shows(count, '7 of 249 records')
    const head = page.getByRole('columnheader', { name: 'Name', exact: true })
    assert.equal(await head.getAttribute('aria-sort'), 'ascending')
    await shows(await cellAt(page, 0, 'Name'), 'Antarctica')
    const other = await viewer.open(page.url().slice(viewer.url.length))
    await shows(other.locator('.match-count'), '7 of 249 records')
    await other.context().close()
  })

  await t.test('an edited record keeps its place until the list is updated', async () => {
    const area = await cellAt(page, 0, 'Area')
    await area.click()
    await page.keyboard.type('5')
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(await viewer.value('AQ', 'area'), 5))
    await page.getByText('Edited records keep their places until you update the list.').waitFor()
    // A change of another person is shown, and the list stays as it is.
    await viewer.post('/api/records', { records: [{ id: 'AQ', capital: 'None' }], actor: 'human:ann' })
    await shows(await cellAt(page, 0, 'Capital'), 'None')
    await shows(area, '5')
    await shows(count, '7 of 249 records')
    await picture(page, 'held-light')
    await page.getByRole('button', { name: 'Update list' }).click()
    await shows(count, '6 of 249 records')
    await shows(await cellAt(page, 0, 'Name'), 'Australia')
    await viewer.post('/api/records', {
      records: [{ id: 'AQ', area: 14000000, capital: null }],
      actor: 'human:ann',
    })
    await shows(count, '7 of 249 records')
  })

  await t.test('heads stay when no record matches', async () => {
    await visit(page, `/?sql=${encodeURIComponent('area < 0')}`)
    await page.getByRole('heading', { name: 'No record matches the filter' }).waitFor()
    await page.getByRole('columnheader', { name: 'Name', exact: true }).waitFor()
    await picture(page, 'no-match-light')
    await page.goBack()
    await shows(count, '7 of 249 records')
  })

  await t.test('the view is as it was when one comes back from another page', async () => {
    const before = new URL(page.url())
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Records' }).click()
    await shows(count, '7 of 249 records')
    assert.deepEqual(
      ['where', 'sort'].map((name) => new URL(page.url()).searchParams.get(name)),
      ['where', 'sort'].map((name) => before.searchParams.get(name)),
    )
  })

  await t.test('the selected cell and the panel are in the address as well', async () => {
    await grid.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.getByRole('complementary').waitFor()
    await eventually(() => assert.match(page.url(), /cell=\w\w.*panel=1/))
    const active = await grid.getAttribute('aria-activedescendant')
    await page.reload()
    await settled(page)
    await page.getByRole('complementary').waitFor()
    await eventually(async () => assert.equal(await grid.getAttribute('aria-activedescendant'), active))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
  })

  await t.test('SQL filters, and the error of the server is shown', async () => {
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await shows(count, '249 records')
    await page.getByRole('button', { name: 'Filter by SQL' }).click()
    const text = page.getByLabel('Filter as an SQL expression')
    await text.fill('no_such_column = 1')
    await page.keyboard.press('Escape')
    await text.press('Enter')
    await page.getByRole('alert').getByText('no_such_column').waitFor()
    await shows(count, '249 records')
    await text.fill("region = 'Europe' AND landlocked")
    await text.press('Escape')
    await text.press('Enter')
    await shows(count, /^\d+ of 249 records$/)
    assert.equal(new URL(page.url()).searchParams.get('sql'), "region = 'Europe' AND landlocked")
    await page.goBack()
    await shows(count, '249 records')
  })

  const filtered = (...conditions: object[]): string =>
    `/?where=${encodeURIComponent(JSON.stringify(conditions))}`

  await t.test('texts, arrays, booleans and missing values filter as they say', async () => {
    const cases = [
      [{ field: 'name', is: 'contains', value: 'ÅLAND' }, 1],
      [{ field: 'capital', is: 'begins', value: 'SAN ' }, 3],
      [{ field: 'capital', is: 'empty', value: null }, 6],
      [{ field: 'languages', is: 'hasAny', value: ['German'] }, 7],
      [{ field: 'landlocked', is: 'equals', value: true }, 44],
      [{ field: 'area', is: 'within', value: [468, 469] }, 1],
    ] as const
    for (const [condition, expected] of cases) {
      await visit(page, filtered(condition))
      await shows(count, `${expected} of 249 records`)
    }
  })

  await t.test('values are found by typing, among the records that match the filter', async () => {
    await visit(page, filtered({ field: 'landlocked', is: 'equals', value: true }))
    await page.keyboard.press('/')
    await page.getByRole('dialog', { name: 'Add a filter: which field?' }).waitFor()
    await page.keyboard.type('languages')
    await page.keyboard.press('Enter')
    await page.getByPlaceholder(/^Search \d+ values$/).fill('man')
    const options = page.locator('.value-picker').getByRole('option')
    await shows(options.first(), /German/)
    await options.filter({ hasText: 'Romansh' }).click()
    await page.keyboard.press('Control+Enter')
    await shows(count, '1 of 249 records')
  })

  await t.test('conditions can be edited as SQL', async () => {
    await visit(
      page,
      filtered({ field: 'name', is: 'begins', value: 'Al' }, { field: 'area', is: 'above', value: 1e6 }),
    )
    await shows(count, '1 of 249 records')
    await page.getByRole('button', { name: 'Filter by SQL' }).click()
    const text = page.getByLabel('Filter as an SQL expression')
    const sql = `instr(lower("name"), 'al') = 1 AND "area" > 1000000`
    await eventually(async () => assert.equal(await text.inputValue(), sql))
    await text.fill(`${sql} OR id = 'AD'`)
    await text.press('Escape')
    await text.press('Enter')
    await shows(count, '2 of 249 records')
  })

  await t.test('an empty result says so, and how to continue', async () => {
    await visit(page, `/?sql=${encodeURIComponent("name = 'Atlantis'")}`)
    await page.getByRole('main').getByRole('heading', { level: 2 }).waitFor()
    await picture(page, 'no-match-light')
    await page.getByRole('main').getByRole('button', { name: 'Clear the filter' }).last().click()
    await shows(count, '249 records')
  })

  await t.test('columns are hidden, and that is remembered', async () => {
    await openMenu(page, 'Alpha-3')
    await page.getByRole('menuitem', { name: 'Hide column' }).click()
    const head = page.getByRole('columnheader', { name: 'Alpha-3', exact: true })
    await eventually(async () => assert.equal(await head.count(), 0))
    await page.reload()
    await settled(page)
    assert.equal(await head.count(), 0)
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
