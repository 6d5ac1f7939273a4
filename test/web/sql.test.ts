import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { exampleSheet } from '../support/example.ts'
import { onEnd } from '../support/on-end.ts'
import { QUERY_LIMITS } from '../support/serve-here.ts'
import { eventually, picture, SheetViewer, shows } from '../support/viewer.ts'

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n'

/** Values that a file must not garble. */
const ODD = `SELECT name, area, landlocked, languages, NULL AS none, '' AS empty, '=1+1' AS formula,
  'a "b", c' AS quoted, 'x' || char(10) || 'y' AS lines FROM records WHERE id = 'CH'`

/** Replaces the statement, and runs it, by keyboard. */
async function runSql(page: Page, sql: string): Promise<void> {
  await page.getByRole('textbox', { name: 'SQL statement' }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(sql)
  await page.keyboard.press('Control+Enter')
}

/** Returns the contents of the file that the browser has saved, and its name. */
async function download(page: Page, item: string): Promise<{ name: string; text: string }> {
  await page.getByRole('button', { name: 'Download' }).click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click(),
  ])
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

test('the SQL console', { skip: NO_BROWSER }, async (t) => {
  const sheet = await exampleSheet()
  onEnd(t, () => sheet.cleanup())
  // Far longer than the test may take.
  const viewer = await SheetViewer.on(t, sheet.path, { queryLimits: { ...QUERY_LIMITS, timeoutMs: 600_000 } })
  const page = await viewer.open('/sql')
  const count = page.locator('.results-count')

  await t.test('a result without rows shows its columns', async () => {
    await runSql(page, "SELECT id, area, 1 AS one FROM records WHERE name = 'Atlantis'")
    await page.getByRole('heading', { name: 'No rows' }).waitFor()
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['id', 'area', 'one'])
    assert.equal(await page.getByRole('button', { name: 'Download' }).count(), 0)
    await picture(page, 'sql-empty-light')
  })

  await t.test('columns are in the order of the statement', async () => {
    await runSql(page, 'SELECT id AS "2", name AS "1" FROM records ORDER BY id LIMIT 1')
    await shows(count, /^1 row in/)
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['2', '1'])
    // The rows are drawn a frame after the heads.
    await page.getByRole('cell', { name: 'AD' }).waitFor()
    assert.deepEqual(await page.getByRole('cell').allInnerTexts(), ['AD', 'Andorra'])
  })

  await t.test('a long value is not cut beside empty space', async () => {
    await runSql(
      page,
      `SELECT 'The quick brown fox jumps over the lazy dog ' || 'again and again' AS long, 1 AS one`,
    )
    const cell = page.getByRole('cell', { name: /^The quick/ })
    await cell.waitFor()
    await eventually(async () => {
      const [content, visible] = await cell.evaluate((each) => [each.scrollWidth, each.clientWidth])
      assert.ok((content ?? 0) <= (visible ?? 0), `${content} px in ${visible}`)
    })
    await picture(page, 'sql-wide-light')
  })

  await t.test('JSON is downloaded as the server answered', async () => {
    await runSql(page, ODD)
    await page.getByRole('columnheader', { name: 'name', exact: true }).waitFor()
    const { name, text } = await download(page, 'JSON, for programs')
    assert.equal(name, 'countries-result.json')
    const response = await fetch(`${viewer.url}/api/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: ODD }),
    })
    const { rows } = (await response.json()) as { rows: readonly Record<string, unknown>[] }
    assert.deepEqual(JSON.parse(text), rows)
    assert.equal(typeof rows[0]?.['area'], 'number')
    assert.equal(rows[0]?.['landlocked'], true)
    assert.ok(Array.isArray(rows[0]['languages']))
  })

  await t.test('CSV is downloaded as RFC 4180 defines it, and no spreadsheet executes it', async () => {
    const { name, text } = await download(page, 'CSV, for spreadsheets')
    assert.equal(name, 'countries-result.csv')
    const [head, ...lines] = text.split('\r\n')
    assert.equal(head, 'name,area,landlocked,languages,none,empty,formula,quoted,lines')
    assert.equal(
      lines.join('\r\n'),
      'Switzerland,41284,true,"[""German"",""French"",""Italian"",""Romansh""]",,"",\'=1+1,"a ""b"", c","x\ny"\r\n',
    )
  })

  await t.test('a cancelled statement is stopped on the server at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      await runSql(page, ENDLESS)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await shows(page.getByRole('status').filter({ hasText: 'Cancelled' }), /^Cancelled after/)
    }
    await runSql(page, 'SELECT 1 AS one')
    await page.getByRole('columnheader', { name: 'one', exact: true }).waitFor()
  })

  await t.test('and so is one whose page is closed', async () => {
    for (let round = 0; round < 3; round += 1) {
      await runSql(page, ENDLESS)
      await page.getByRole('button', { name: 'Cancel' }).waitFor()
      await page.getByRole('link', { name: 'Contract' }).click()
      await page.getByRole('link', { name: 'SQL' }).click()
    }
    await runSql(page, 'SELECT 2 AS two')
    await page.getByRole('columnheader', { name: 'two', exact: true }).waitFor()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
