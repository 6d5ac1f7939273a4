import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { assertAccessible } from '../support/panels.ts'
import { cellAt, eventually, picture, settled, shows, Viewer, visit } from '../support/viewer.ts'

/** Goes through so many rows that it does not end while the test looks. */
const ENDLESS =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT count(*) AS c FROM n'

/** Replaces the statement, and runs it, by keyboard. */
async function runSql(page: Page, sql: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'SQL statement' })
  await editor.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(sql)
  await page.keyboard.press('Control+Enter')
}

test('the other pages', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open('/derivations')

  await t.test('derivations are drawn, and open their file', async () => {
    await page.getByRole('button', { name: /^currency http: computes currency_name/ }).focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('region', { name: 'currency.yaml' })
    await panel
      .getByText(/^127\.0\.0\.1/)
      .first()
      .waitFor()
    await panel.getByText('/currencies/{{ currency }}').waitFor()
    await panel.getByRole('button', { name: 'Compute missing cells (744)' }).waitFor()
    await picture(page, 'derivations-light')
    await page.reload()
    await panel.waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
  })

  await t.test('SQL runs, with its result as a table and a chart', async () => {
    await visit(page, '/sql')
    await runSql(
      page,
      'SELECT region, count(*) AS countries FROM records GROUP BY region ORDER BY countries DESC',
    )
    const result = page.getByRole('table', { name: 'Result' })
    await result.getByRole('cell', { name: 'Africa' }).waitFor()
    assert.equal(await result.getAttribute('aria-rowcount'), '7')
    await page.getByText(/^6 rows in/).waitFor()
    await page.getByRole('tab', { name: 'Chart' }).click()
    await page.getByRole('group', { name: 'Chart' }).getByRole('img').waitFor()
    await picture(page, 'sql-chart-light')
  })

  await t.test('the result is downloaded as CSV', async () => {
    await page.getByRole('button', { name: 'Download' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV, for spreadsheets' }).click()
    const file = await download
    assert.match(file.suggestedFilename(), /\.csv$/)
    const lines = (await readFile(await file.path(), 'utf8'))
      .replace(/^\uFEFF/, '')
      .trim()
      .split(/\r?\n/)
    assert.deepEqual([lines.length, lines[0]], [7, 'region,countries'])
  })

  await t.test('an invalid statement shows the message of the server', async () => {
    await runSql(page, 'SELECT nothing_here FROM records')
    await page
      .getByRole('alert')
      .getByText(/nothing_here/)
      .waitFor()
  })

  await t.test('a long statement is cancelled', async () => {
    await runSql(page, ENDLESS)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText(/^Cancelled after/).waitFor()
    await runSql(page, 'SELECT 1 AS one FROM records LIMIT 1')
    await page.getByRole('columnheader', { name: 'one' }).waitFor()
  })

  await t.test('earlier statements are in the history', async () => {
    await page.getByRole('button', { name: 'History' }).click()
    const history = page.getByRole('dialog', { name: 'Statement history' })
    await history.getByText(/GROUP BY region/).click()
    await shows(page.getByRole('textbox', { name: 'SQL statement' }), /GROUP BY region/)
  })

  await t.test('the contract lists its fields', async () => {
    await visit(page, '/contract')
    await page
      .getByRole('row', { name: /^Region region/ })
      .getByText(/Antarctic/)
      .waitFor()
    await page.getByRole('searchbox', { name: 'Search fields' }).fill('time zones')
    await page.getByRole('rowheader', { name: /Time zones/ }).waitFor()
    await eventually(async () => assert.ok((await page.getByRole('row').count()) < 6))
    await page.getByRole('searchbox').fill('')
    await picture(page, 'contract-light')
    await page.getByRole('link', { name: 'Region', exact: true }).click()
    await eventually(() => assert.match(page.url(), /cell=AD.*region/))
  })

  const file = (name: string): string => join(viewer.sheet.path, name)
  const repair = page.getByRole('region', { name: 'Repair the sheet' })

  await t.test('records can be read while a derivation file is not valid', async () => {
    await visit(page, '/')
    const path = file('derivations/names.yaml')
    const sound = await readFile(path, 'utf8')
    await writeFile(path, sound.replace('kind: http', 'kind: htp'))
    await page.reload()
    const banner = page.getByRole('alert').filter({ hasText: 'derivations/names.yaml:' })
    await banner.getByText('values cannot be edited or computed').waitFor()
    await shows(await cellAt(page, 0, 'Name'), 'Andorra')
    assert.equal(await (await cellAt(page, 0, 'Name')).getAttribute('aria-readonly'), 'true')
    await assertAccessible(page, 'broken-derivation', { include: '[role=alert]' })
    await banner.getByRole('button', { name: 'Open' }).click()
    await repair.locator('.fault-message').getByText('derivations/names.yaml:').waitFor()
    await writeFile(path, sound)
    await repair.waitFor({ state: 'detached' })
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Run…' }).waitFor()
  })

  await t.test('invalid files are repaired at the lines of their errors, and saved together', async () => {
    const names = ['contract.yaml', 'derivations/names.yaml']
    const [contract = '', derivation = ''] = await Promise.all(
      names.map((name) => readFile(file(name), 'utf8')),
    )
    await writeFile(file('derivations/names.yaml'), derivation.replace('kind: http', 'kind: htp'))
    await writeFile(file('contract.yaml'), contract.replace('logicalType: object', 'logicalType: [object'))
    await page.goto(viewer.url)
    const save = repair.getByRole('button', { name: 'Save' })
    const fix = async (name: string, text: string): Promise<void> => {
      const editor = repair.getByRole('textbox', { name: `Text of ${name}` })
      await repair.locator('.fault-message').getByText(`${name}:`).waitFor()
      await editor.focus()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text)
    }
    await repair.locator('.fault-message').waitFor()
    assert.equal(await save.isDisabled(), true)
    await assertAccessible(page, 'repair-contract', { include: '.repair' })
    await fix('contract.yaml', contract)
    await fix('derivations/names.yaml', `${derivation}# repaired\n`)
    await repair.getByText('All files are valid.').waitFor()
    await assertAccessible(page, 'repair-all', { include: '.repair' })
    assert.match(await readFile(file('contract.yaml'), 'utf8'), /\[object/)
    await save.click()
    await shows(await cellAt(page, 0, 'Name'), 'Andorra')
    assert.equal(await readFile(file('contract.yaml'), 'utf8'), contract)
    assert.equal(await readFile(file('derivations/names.yaml'), 'utf8'), `${derivation}# repaired\n`)
  })

  await t.test(
    'a file that is repaired by hand brings the page back, with what was typed in it',
    async () => {
      await page.goto(`${viewer.url}/?edit=name`)
      const heading = page.getByRole('complementary', { name: /^Edit/ }).getByLabel('Heading')
      await heading.fill('Country')
      const sound = await readFile(file('contract.yaml'), 'utf8')
      await writeFile(file('contract.yaml'), sound.replace('logicalType: object', 'logicalType: [object'))
      await repair
        .locator('.fault-message')
        .getByText(/contract\.yaml:\d+/)
        .waitFor()
      await writeFile(file('contract.yaml'), sound)
      await repair.waitFor({ state: 'detached' })
      await shows(await cellAt(page, 0, 'Name'), 'Andorra')
      assert.equal(await heading.inputValue(), 'Country')
      // Without the question about the changes of the drawer.
      await page.goto(viewer.url)
      await settled(page)
    },
  )

  await t.test('the command menu opens every page, by keyboard', async () => {
    await page.keyboard.press('Control+k')
    const menu = page.getByRole('dialog', { name: 'Commands' })
    await menu.waitFor()
    await picture(page, 'commands-light')
    await page.keyboard.type('sort by area')
    await page.keyboard.press('Enter')
    await eventually(() => assert.match(page.url(), /sort=area/))
    await page.keyboard.press('Control+k')
    await page.keyboard.type('contract')
    await menu.getByRole('option', { name: 'Contract', exact: true }).click()
    await page.getByRole('tab', { name: 'Fields' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
  })

  await t.test('the theme is chosen and remembered', async () => {
    const paper = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await paper()
    await page.getByRole('button', { name: /^Theme: system/ }).click()
    await page.getByRole('button', { name: /^Theme: light/ }).click()
    await page.getByRole('button', { name: /^Theme: dark/ }).waitFor()
    await eventually(async () => assert.notEqual(await paper(), light))
    const dark = await paper()
    await page.reload()
    await settled(page)
    assert.equal(await paper(), dark)
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
