import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { onEnd } from '../support/on-end.ts'
import { openMenu } from '../support/panels.ts'
import { cellAt, eventually, picture, settled, SheetViewer, shows, visit } from '../support/viewer.ts'

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: stock
version: 1.0.0
status: active
schema:
  - name: Stock
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: name, logicalType: string}
      - {name: price, logicalType: number}
      - {name: sold, logicalType: boolean}
`

const RECORDS = Array.from({ length: 300 }, (_, index) => ({
  id: `r${index}`,
  name: `Item ${index}`,
  price: index,
  sold: false,
}))

async function stockSheet(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-time-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'contract.yaml'), CONTRACT)
  await writeFile(
    join(directory, 'records.jsonl'),
    RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''),
  )
  return directory
}

/** After the import, entry 1: two cells changed (2), a record deleted (3), and one created (4), each at a time of its own. */
async function change(viewer: SheetViewer): Promise<void> {
  const actor = 'human:ann'
  const later = async (): Promise<void> => {
    const { last_at: last } = await viewer.get<{ last_at: string }>('/api/history')
    while (Date.now() <= Date.parse(last)) await new Promise(setImmediate)
  }
  await later()
  await viewer.post('/api/records', { records: [{ id: 'r1', name: 'Renamed', price: 99 }], actor })
  await later()
  const { id } = await viewer.post<{ id: string }>('/api/proposals', { ids: ['r2'], actor: 'agent:x' })
  await viewer.post(`/api/proposals/${id}/accept`, { actor })
  await later()
  await viewer.post('/api/records', { records: [{ id: 'new', name: 'New' }], actor })
}

const asOf = (page: Page): string | null => new URL(page.url()).searchParams.get('as_of')

test('an earlier state of the sheet', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await stockSheet(t))
  await change(viewer)
  const page = await viewer.open('/')
  const bar = page.getByRole('region', { name: 'Earlier state' })
  const slider = bar.getByRole('slider', { name: 'Moment' })
  const is = async (seq: number): Promise<void> => {
    await eventually(async () => {
      assert.equal(asOf(page), String(seq))
      assert.equal(await slider.inputValue(), String(seq))
    })
    await settled(page)
  }
  const cell = async (row: number, title: string): Promise<string> =>
    (await cellAt(page, row, title)).innerText()
  const toast = page.locator('.toast')
  const refused = async (reason: RegExp): Promise<void> => shows(toast.last(), reason)

  await t.test('is opened at the last entry; the arrow keys go from change to change', async () => {
    await page.getByRole('button', { name: 'Look at an earlier state' }).click()
    await is(4)
    assert.match(
      await bar.getByRole('status').innerText(),
      /^As of .* · 300 records · after write by human:ann$/,
    )
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    await is(3)
    await page.keyboard.press('ArrowDown')
    await is(2)
    await page.keyboard.press('Home')
    await is(0)
    await shows(page.locator('.grid-notice'), /^No records then/)
    await page.keyboard.press('ArrowRight')
    await is(1)
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /, entry 1 of 4$/)
    assert.equal(await bar.getByRole('button', { name: 'Next change' }).isEnabled(), true)
  })

  await t.test(
    'shows the records of then in the order of creation, and marks what differs from now',
    async () => {
      assert.deepEqual(await Promise.all([1, 2].map((row) => cell(row, 'name'))), ['Item 1', 'Item 2'])
      await shows(
        bar.getByRole('status'),
        /300 records .* In loaded rows: 2 cells differ from now, 1 record deleted since$/,
      )
      const differs = (await cellAt(page, 1, 'price')).getByRole('img', { name: 'It has another value now' })
      await differs.waitFor()
      assert.equal(await (await cellAt(page, 1, 'sold')).locator('.differs-mark').count(), 0)
      await (await cellAt(page, 2, 'id')).getByRole('img', { name: 'The record was deleted since' }).waitFor()
      await (await cellAt(page, 1, 'name')).hover()
      await shows(page.locator('.now-tip'), 'Now: Renamed')
      await (await cellAt(page, 2, 'name')).hover()
      await shows(page.locator('.now-tip'), 'The record was deleted since')
      await picture(page, 'time')
    },
  )

  await t.test('is read any page of, wherever one goes', async () => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+End')
    await eventually(async () => assert.equal(await cell(299, 'name'), 'Item 299'))
    await page.keyboard.press('Control+Home')
  })

  await t.test('cannot be changed, and says why', async () => {
    await (await cellAt(page, 1, 'name')).click()
    await page.keyboard.press('x')
    await refused(/^Earlier states are read-only/)
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.press('Delete')
    assert.equal(await page.getByRole('button', { name: 'Add record' }).isDisabled(), true)
    assert.equal(await page.getByRole('button', { name: 'New record' }).count(), 0)
    await page.keyboard.press('Control+f')
    await refused(/cannot be searched/)
    await openMenu(page, 'name')
    const items = await page.getByRole('menuitem').allInnerTexts()
    assert.ok(items.some((item) => item.startsWith('Pin left')))
    assert.deepEqual(
      items.filter((item) => /summary|edit|group/i.test(item)),
      [],
    )
    await page.keyboard.press('Escape')
    const { last } = await viewer.get<{ last: number }>('/api/history')
    assert.equal(last, 4, 'nothing was written')
  })

  await t.test('has the provenance of then in the panel, beside the present value', async () => {
    await (await cellAt(page, 1, 'name')).click()
    await page.keyboard.press('Space')
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await shows(panel.locator('.cell-now'), 'Now: Renamed')
    await shows(panel.getByRole('heading', { name: /^History/ }), 'History 1')
    assert.equal(await panel.getByRole('button', { name: /restore/i }).count(), 0)
    await picture(page, 'time-panel')
  })

  await t.test('is in the URL: a reload shows the same moment and cell', async () => {
    await page.reload()
    await settled(page)
    await is(1)
    await shows(page.locator('.cell-now'), 'Now: Renamed')
    await eventually(async () => assert.equal(await cell(1, 'name'), 'Item 1'))
    await page.keyboard.press('Escape')
  })

  await t.test('is found by a date and time', async () => {
    const { last_at: last } = await viewer.get<Record<string, string>>('/api/history')
    const field = bar.getByLabel('Date and time')
    const inAnHour = new Date(Date.parse(last ?? '') + 3_600_000).toISOString().slice(0, 19)
    await field.fill(inAnHour)
    await field.press('Enter')
    await is(4)
    await field.fill('2001-01-01T00:00:00')
    await field.press('Enter')
    await is(0)
    await bar.getByRole('button', { name: 'Next change' }).click()
    await is(1)
  })

  await t.test('has no faults that axe finds, in light and dark, and fits narrow windows', async () => {
    assert.deepEqual(await axeFaults(page, {}), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await axeFaults(page, { rules: ['color-contrast'] }), [])
    await picture(page, 'time-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    for (const width of [400, 800, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      await settled(page)
      await picture(page, `time-${width}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(wide <= 0, `${wide} px too wide at ${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  await t.test('is sorted and filtered by the values of then', async () => {
    await (await openMenu(page, 'price')).getByRole('menuitem', { name: 'Sort descending' }).click()
    await eventually(async () => assert.equal(await cell(0, 'name'), 'Item 299'))
    await page.keyboard.press('/')
    await page.keyboard.type('price')
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Add a filter on price' })
    await form.getByLabel('Operator').selectOption('atMost')
    await form.getByRole('textbox', { name: 'Value' }).fill('1')
    await page.keyboard.press('Enter')
    await shows(page.locator('.match-count'), '2 of 300 records')
    // The price of Item 1 is 99 now.
    await eventually(async () =>
      assert.deepEqual(await Promise.all([0, 1].map((row) => cell(row, 'name'))), ['Item 1', 'Item 0']),
    )
    await (await cellAt(page, 0, 'price')).getByRole('img', { name: 'It has another value now' }).waitFor()
    await settled(page)
    await picture(page, 'time-filtered')
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await eventually(async () => assert.equal(await cell(0, 'name'), 'Item 299'))
    assert.equal(asOf(page), '1')
  })

  await t.test('is left by Back to now and from the command menu, in the order that was chosen', async () => {
    await bar.getByRole('button', { name: 'Back to now' }).click()
    await eventually(async () => assert.equal(await cell(0, 'name'), 'Item 299'))
    assert.equal(asOf(page), null)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('earlier')
    await page.keyboard.press('Enter')
    await is(4)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('previous change')
    await page.keyboard.press('Enter')
    await is(3)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('back to now')
    await page.keyboard.press('Enter')
    await eventually(() => assert.equal(asOf(page), null))
  })

  await t.test('that is not known is an error with the way back', async () => {
    await visit(page, '/?as_of=99')
    await page.getByText('as_of 99 has not happened yet').first().waitFor()
    await page.getByRole('button', { name: 'Back to now' }).last().click()
    await eventually(async () => assert.equal(await cell(0, 'name'), 'Item 0'))
  })
  viewer.assertCalm()
})
