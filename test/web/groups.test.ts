import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { onEnd } from '../support/on-end.ts'
import { assertAccessible, openMenu } from '../support/panels.ts'
import { eventually, picture, SheetViewer, shows, visit } from '../support/viewer.ts'

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: sales
version: 1.0.0
status: active
schema:
  - name: Sales
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: city, logicalType: string}
      - {name: paid, logicalType: boolean}
      - {name: day, logicalType: date}
      - {name: amount, logicalType: number}
`

/** Sales in two cities and without one, in three months. */
const SALES = Array.from({ length: 12 }, (_, index) => ({
  id: `s${index}`,
  city: index === 11 ? null : index % 3 === 0 ? 'Bern' : 'Graz',
  paid: index % 2 === 0,
  day: `2026-0${1 + (index % 3)}-15`,
  amount: index / 10,
}))

async function salesSheet(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-groups-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'contract.yaml'), CONTRACT)
  await writeFile(join(directory, 'records.jsonl'), SALES.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return directory
}

test('groups beside the grid', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await salesSheet(t))
  const page = await viewer.open()
  const panel = page.getByRole('complementary', { name: 'Groups' })
  const rows = panel.locator('.group-row')
  const labels = () => rows.locator('.visually-hidden').allTextContents()
  const count = page.locator('.match-count')
  const show = async (...expected: string[]): Promise<void> =>
    eventually(async () => assert.deepEqual(await labels(), expected))

  await t.test('are those of a column, from its menu, the largest first', async () => {
    await openMenu(page, 'city')
    await page.getByRole('menuitem', { name: 'Group by this column' }).click()
    await show('Graz: 7 records', 'Bern: 4 records', 'no value: 1 record')
    assert.match(page.url(), /group=city/)
  })

  await t.test('open and close by a press: the grid has the records of the open one', async () => {
    const graz = panel.getByRole('button', { name: /^Graz/ })
    await graz.focus()
    await page.keyboard.press('Enter')
    await shows(count, '7 of 12 records')
    assert.equal(await graz.getAttribute('aria-expanded'), 'true')
    await show('Graz: 7 records', 'Bern: 4 records', 'no value: 1 record')
    await panel.getByRole('button', { name: /^no value/ }).click()
    await shows(count, '1 of 12 records')
    await panel.getByRole('button', { name: /^no value/ }).click()
    await shows(count, '12 records')
  })

  await t.test('are divided by a second column, and have sums', async () => {
    await panel.getByLabel('Split by').selectOption({ label: 'paid' })
    await panel.getByLabel('Show').selectOption({ label: 'Sum of amount' })
    await show(
      'Graz: 7 records, sum of amount 3.7, false 1.3, true 2.4',
      'Bern: 4 records, sum of amount 1.8, false 1.2, true 0.6',
      'no value: 1 record, sum of amount 1.1, false 1.1',
    )
    await assertAccessible(page, 'groups', { include: '.groups-panel' })
  })

  await t.test('of a date are periods in their order, with a line in which a press filters', async () => {
    await visit(page, '/?group=day')
    await show('2026-01: 4 records', '2026-02: 4 records', '2026-03: 4 records')
    const periods = panel.getByRole('group', { name: 'day from 2026-01 to 2026-03' })
    await periods.getByRole('button', { name: '2026-02: 4' }).click()
    await shows(count, '4 of 12 records')
    await panel.getByLabel('Period').selectOption('Year')
    await show('2026: 12 records')
  })

  await t.test('of a number have a histogram, in which a press filters', async () => {
    await visit(page, '/?group=amount')
    const bars = panel.locator('.groups-histogram button:enabled')
    await bars.first().click()
    await shows(count, '1 of 12 records')
    assert.equal(await bars.first().getAttribute('aria-pressed'), 'true')
    await bars.first().click()
    await panel.getByLabel('Split by').selectOption({ label: 'paid' })
    const first = panel.locator('.groups-histogram button').first()
    await eventually(async () =>
      assert.match((await first.getAttribute('aria-label')) ?? '', /: 1 record · 8\.3%, true 1$/),
    )
    await picture(page, 'groups-histogram')
  })

  await t.test('are pinned in the sheet, and pinned charts have the filter of the grid', async () => {
    await visit(page, '/?group=city&split=paid')
    await panel.getByRole('button', { name: 'Pin this chart…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pin this chart' })
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Records by city and paid')
    await dialog.getByLabel('Name').fill('Cities')
    await page.keyboard.press('Enter')
    await viewer.post('/api/charts', { name: 'Amounts', group: 'amount', actor: 'human:other' })
    await panel.getByRole('button', { name: 'Pinned charts' }).click()
    const charts = page.getByRole('complementary', { name: 'Pinned charts' })
    // Another tab sees what others have pinned.
    const other = await viewer.open('/?charts=1', page.context())
    await other.getByRole('region', { name: 'Amounts' }).locator('.groups-histogram button').first().waitFor()
    await picture(other, 'pinned-charts')
    await other.close()
    const cities = charts.getByRole('region', { name: 'Cities' })
    await cities.getByRole('button', { name: /^Graz/ }).click()
    await shows(count, '7 of 12 records')
    await cities.getByRole('button', { name: /^Graz/ }).click()
    await shows(count, '12 records')
    await cities.getByRole('button', { name: 'Menu of Cities' }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByRole('dialog', { name: 'Rename Cities' }).getByLabel('Name').fill('Places')
    await page.keyboard.press('Enter')
    await charts.getByRole('region', { name: 'Places' }).waitFor()
    assert.deepEqual(await axeFaults(page, { include: '.groups-panel' }), [])
    await charts.getByRole('button', { name: 'Menu of Places' }).click()
    await page.getByRole('menuitem', { name: 'Unpin' }).click()
    await charts.getByRole('region', { name: 'Places' }).waitFor({ state: 'detached' })
    await eventually(async () => {
      const { charts: left } = await viewer.get<{ charts: { name: string }[] }>('/api/charts')
      assert.deepEqual(
        left.map(({ name }) => name),
        ['Amounts'],
      )
    })
  })

  await t.test('are counted again when records change, and leave with Escape', async () => {
    await visit(page, '/?group=city')
    await viewer.post('/api/records', { actor: 'human:me', records: [{ id: 's12', city: 'Cork' }] })
    await show('Graz: 7 records', 'Bern: 4 records', 'Cork: 1 record', 'no value: 1 record')
    await rows.first().focus()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.locator('.grid-input :focus').waitFor()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
