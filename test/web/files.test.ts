import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { picture, Viewer } from '../support/viewer.ts'

const EUROPE = encodeURIComponent('[{"field":"region","is":"anyOf","value":["Europe"]}]')

test('the view is exported with its filter, order and columns', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open(`/?sort=-area&where=${EUROPE}`)
  await page.getByRole('button', { name: 'Columns', exact: true }).click()
  for (const name of ['Alpha-3', 'Numeric code']) await page.getByRole('checkbox', { name }).uncheck()
  await page.keyboard.press('Escape')
  const head = page.getByRole('columnheader', { name: 'Capital', exact: true })
  await head.hover()
  await head.getByRole('button', { name: 'Menu of Capital' }).click()
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
