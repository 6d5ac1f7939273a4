import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { assertAccessible, openMenu } from '../support/panels.ts'
import { picture, Viewer } from '../support/viewer.ts'

const EUROPE = encodeURIComponent('[{"field":"region","is":"anyOf","value":["Europe"]}]')

test('the view is exported with its filter, order and columns', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open(`/?sort=-area&where=${EUROPE}`)
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  for (const name of ['Alpha-3', 'Numeric code']) await page.getByRole('checkbox', { name }).uncheck()
  await page.keyboard.press('Escape')
  await openMenu(page, 'Capital')
  await page.getByRole('menuitem', { name: 'Move left' }).click()
  await page.getByRole('button', { name: 'Files' }).click()
  await page.getByText(/^Export 5\d records, \d+ columns$/).waitFor()
  await picture(page, 'files-menu-light')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV, for spreadsheets' }).click(),
  ])
  const [names = '', first = ''] = (await readFile(await file.path(), 'utf8')).split('\r\n')
  assert.match(names, /^id,capital,name,region,/)
  assert.doesNotMatch(names, /alpha3|numeric/)
  assert.match(first, /^RU,Moscow,Russia,Europe,/)
  assert.match(file.suggestedFilename(), /\.csv$/)
  viewer.assertCalm()
})

/** A file with a new record, a changed one, an equal one, and a column that is no field. */
const CSV =
  'Code,name,Area,Motto\nCH,Switzerland,41285,Unus pro omnibus\nXK,Kosovo,10887,\nAD,Andorra,468,Virtus\n'

test(
  'a dropped file is imported after a preview, and the import is undone',
  { skip: NO_BROWSER },
  async (t) => {
    const viewer = await Viewer.start(t)
    const page = await viewer.open()
    const before = await viewer.value('CH', 'area')
    await dropFile(page, 'edited.csv', CSV)
    const dialog = page.getByRole('dialog', { name: 'Import edited.csv' })
    // A new record needs the fields that the contract requires.
    const faults = dialog.getByRole('list', { name: 'Values that do not fit' })
    await faults.getByText('edited.csv:3').first().waitFor()
    await picture(page, 'import-faults-light')
    assert.equal(await dialog.getByRole('button', { name: /^Import/ }).isDisabled(), true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    assert.deepEqual(await viewer.get('/api/runs').then((list) => (list as { runs: unknown[] }).runs), [])

    await dropFile(page, 'edited.csv', CSV.replace(/XK.*\n/, ''))
    await dialog.getByText('1 record changed, 1 unchanged.').waitFor()
    await dialog.getByRole('combobox', { name: 'Field of the column Motto' }).selectOption('New field: Motto')
    assert.equal(
      await dialog.getByRole('combobox', { name: 'Type of the column Motto' }).inputValue(),
      'string',
    )
    const changes = dialog.getByRole('region', { name: 'First changes' })
    await changes.getByText('41,285').waitFor()
    await assertAccessible(page, 'import', { include: '[role=dialog]' })
    await page.setViewportSize({ width: 800, height: 700 })
    await picture(page, 'import-narrow-light')
    await page.setViewportSize({ width: 1440, height: 900 })
    await dialog.getByRole('button', { name: 'Import 2 records' }).click()
    const toast = page.getByText('edited.csv: 2 records changed')
    await toast.waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await viewer.value('CH', 'area'), 41_285)
    assert.equal(await viewer.value('AD', 'Motto'), 'Virtus')
    await picture(page, 'imported-light')

    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The import of edited.csv is undone').waitFor()
    assert.equal(await viewer.value('CH', 'area'), before)
    const { schema } = await viewer.get<{ schema: [{ properties: { name: string }[] }] }>('/api/contract')
    assert.ok(!schema[0].properties.some(({ name }) => name === 'Motto'))
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: 'Import of edited.csv' }).click()
    await page.getByRole('heading', { name: 'Import of edited.csv' }).waitFor()
    await picture(page, 'import-run-light')
    viewer.assertCalm()
  },
)

/** Drops a file on the page, as from a folder. */
async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file = '', content = '']) => {
      const data = new DataTransfer()
      data.items.add(new File([content], file, { type: 'text/csv' }))
      return data
    },
    [name, text],
  )
  const grid = page.getByRole('grid')
  await grid.dispatchEvent('dragenter', { dataTransfer: transfer })
  await page.getByText('Drop a file to import its records').waitFor()
  await grid.dispatchEvent('drop', { dataTransfer: transfer })
}
