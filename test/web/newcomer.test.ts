import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { contractText } from '../support/contract-with.ts'
import { startLocalApi } from '../support/local-api.ts'
import { ModelServer } from '../support/model-server.ts'
import { onEnd } from '../support/on-end.ts'
import { assertAccessible } from '../support/panels.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { cellAt, eventually, shows, SheetViewer } from '../support/viewer.ts'

/*
 * A person who has never seen a file of a sheet adds a column of each kind that computes. Each test reads like what they do; none shows YAML.
 */

const TOWNS = {
  contract: contractText(['{name: town, logicalType: string}', '{name: people, logicalType: integer}']),
  records: [
    { id: '1', town: 'Ulm', people: 126_949 },
    { id: '2', town: 'Passau', people: 53_907 },
  ],
  derivations: {},
}

/** Names a new column and chooses its kind. */
async function begin(page: Page, title: string, kind: RegExp): Promise<Locator> {
  await page.getByRole('button', { name: 'Add a column' }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByLabel('Name').fill(title)
  await drawer.getByRole('radio', { name: kind }).check()
  await drawer.getByRole('button', { name: 'Continue' }).click()
  return drawer
}

/** Types a text in place of what a field has. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await field.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Tries the column on the first rows: their values are in the drawer, and in the dashed column. */
async function preview(page: Page, drawer: Locator, values: readonly string[]): Promise<void> {
  await drawer.getByRole('button', { name: 'Preview', exact: true }).click()
  await drawer.getByText(`${values.length} of ${values.length} valid`).waitFor()
  for (const [row, value] of values.entries())
    await shows(page.locator(`.grid-row[data-row="${row}"] .grid-cell.ghost`).first(), value)
}

/** Waits until the column can be added. */
async function ready(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Run all…' })
  await eventually(async () => assert.equal(await button.isEnabled(), true))
}

/** Adds the column, and computes it. */
async function compute(page: Page, drawer: Locator): Promise<void> {
  assert.equal(await page.locator('.yaml-editor').count(), 0, 'no YAML was seen')
  await drawer.getByRole('button', { name: 'Run all…' }).click()
  const dialog = page.getByRole('dialog')
  // What the preview called for need not be called for again; a formula makes no calls.
  await dialog.getByRole('button', { name: /^(Run$|Fill \d)/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a newcomer adds a column that a formula computes', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await writeSheet(t, TOWNS))
  const page = await viewer.open()
  const drawer = await begin(page, 'Share (%)', /^Formula/)
  await type(page, drawer.getByRole('textbox', { name: 'Formula' }), 'round(people / 2000.0, 1)')
  await preview(page, drawer, ['63.5', '27'])
  await ready(page)
  await assertAccessible(page, 'newcomer-formula', { include: '.column-drawer' })
  await compute(page, drawer)
  await shows(await cellAt(page, 0, 'Share (%)'), /^63\.5/)
  await shows(await cellAt(page, 1, 'Share (%)'), /^27/)
  viewer.assertCalm()
})

test(
  'a newcomer fills two columns from an API by clicking the values of its response',
  { skip: NO_BROWSER },
  async (t) => {
    const api = await startLocalApi(t)
    api.answer('/towns/Ulm', { json: { town: { mayor: 'Ansbacher', altitude: 478 } } })
    api.answer('/towns/Passau', { json: { town: { mayor: 'Dupper', altitude: 302 } } })
    const viewer = await SheetViewer.on(t, await writeSheet(t, TOWNS))
    const page = await viewer.open()
    const drawer = await begin(page, 'Mayor', /^HTTP request/)
    await type(page, drawer.getByRole('textbox', { name: 'URL' }), `${api.url}/towns/t`)
    await page.locator('.cm-tooltip').getByRole('option', { name: /^town/ }).click()
    await drawer.getByLabel('Fill another new column').fill('Above sea level')
    await drawer.getByRole('button', { name: 'Add', exact: true }).click()
    await drawer.getByRole('button', { name: 'Try one row' }).click()
    await drawer.getByRole('button', { name: /^mayor / }).click()
    await drawer.getByRole('button', { name: /^altitude / }).click()
    assert.equal(await drawer.getByLabel('Type of Above sea level').inputValue(), 'number')
    await preview(page, drawer, ['Ansbacher', 'Dupper'])
    await ready(page)
    await assertAccessible(page, 'newcomer-http', { include: '.column-drawer' })
    const { length } = api.requests
    await compute(page, drawer)
    await shows(await cellAt(page, 1, 'Mayor'), /^Dupper/)
    await shows(await cellAt(page, 1, 'Above sea level'), /^302/)
    assert.equal(api.requests.length, length, 'the run took the responses of the preview')
    viewer.assertCalm()
  },
)

test('a newcomer adds a column that a model fills', { skip: NO_BROWSER }, async (t) => {
  const model = await new ModelServer(({ turns }) => ({
    text: /Ulm/.test(turns[0] ?? '') ? 'Danube' : 'Inn',
  })).listen()
  onEnd(t, () => model.close())
  const sheet = await writeSheet(t, TOWNS)
  const small = { api: 'openai', url: model.url, model: 'local', price: { input: 1, output: 2 } }
  await writeFile(join(sheet, 'models.yaml'), JSON.stringify({ models: { small } }))
  const viewer = await SheetViewer.on(t, sheet)
  const page = await viewer.open()
  const drawer = await begin(page, 'River', /^AI/)
  await type(page, drawer.getByRole('textbox', { name: 'Prompt' }), 'Which river is at /t')
  await page.locator('.cm-tooltip').getByRole('option', { name: /^town/ }).click()
  await drawer.getByLabel('Allowed values').fill('Danube\nInn')
  await preview(page, drawer, ['Danube', 'Inn'])
  await drawer.getByText(/about \$0\.0\d+ a call/).waitFor()
  await ready(page)
  await assertAccessible(page, 'newcomer-ai', { include: '.column-drawer' })
  await compute(page, drawer)
  await shows(await cellAt(page, 1, 'River'), /^Inn/)
  assert.match(model.requests[0]?.system ?? '', /one of "Danube", "Inn"/)
  assert.equal(model.requests.length, 2, 'the run took the answers of the preview')
  viewer.assertCalm()
})
