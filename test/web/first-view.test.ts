import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, picture, shows, Viewer } from '../support/viewer.ts'

const DIST = join(import.meta.dirname, '..', '..', 'web', 'dist')
const MOST_SCRIPT_BYTES = 250 * 1000

test('the script of the first view is small', async () => {
  const html = await readFile(join(DIST, 'index.html'), 'utf8')
  const paths = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, path = '']) => path)
  assert.ok(paths.length > 0)
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(await readFile(join(DIST, path))).byteLength),
  )
  const total = sizes.reduce((a, b) => a + b)
  assert.ok(total < MOST_SCRIPT_BYTES, `${total} bytes`)
})

test('the first view', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open()

  await t.test('shows the records, few of them as elements', async () => {
    const grid = page.getByRole('grid', { name: 'Records of Countries' })
    assert.equal(await grid.getAttribute('aria-rowcount'), '250')
    await shows(page.locator('.match-count'), '249 records')
    await shows(await cellAt(page, 0, 'Name'), 'Andorra')
    const drawn = await page.locator('.grid-row').count()
    assert.ok(drawn > 20 && drawn < 100, `${drawn} rows`)
    await picture(page, 'records-light')
  })

  await t.test('types the columns by the contract', async () => {
    const area = await cellAt(page, 1, 'Area')
    await shows(area, '83,600')
    assert.match((await area.getAttribute('class')) ?? '', /\bright\b/)
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+Home')
    const languages = page.getByRole('columnheader', { name: 'Languages', exact: true })
    for (let step = 0; step < 9; step += 1) await page.keyboard.press('ArrowRight')
    await languages.waitFor()
    assert.deepEqual(await (await cellAt(page, 2, 'Languages')).locator('.chip').allInnerTexts(), [
      'Dari',
      'Pashto',
      'Turkmen',
    ])
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await (await cellAt(page, 0, 'Landlocked')).getByRole('img', { name: 'true' }).waitFor()
  })

  await t.test('scrolls to any position at once', async () => {
    await page.keyboard.press('Control+End')
    await eventually(async () => {
      assert.equal(await page.locator('.grid-row').last().getAttribute('data-row'), '248')
      assert.equal(await page.locator('.grid-row.waiting').count(), 0)
    })
    await page.keyboard.press('Control+g')
    await page.getByRole('spinbutton', { name: 'Record number' }).fill('100')
    await page.keyboard.press('Enter')
    await eventually(async () => {
      const active = await page.getByRole('grid').getAttribute('aria-activedescendant')
      assert.match(active ?? '', /^cell-99-/)
    })
  })

  await t.test('pictures the columns, and a click or a key filters', async () => {
    await page.keyboard.press('Control+Home')
    const region = page.getByRole('columnheader', { name: 'Region', exact: true })
    await region.getByRole('listbox').waitFor()
    await page.keyboard.press('ArrowUp')
    for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('F2')
    await page.locator('[data-summary]:focus').waitFor()
    const first = (await region.getByRole('option').first().getAttribute('aria-label')) ?? ''
    const [, name, count] = /^(\w+): (\d+)/.exec(first) ?? []
    await page.keyboard.press('Enter')
    await shows(page.locator('.match-count'), `${count} of 249 records`)
    assert.match(decodeURIComponent(page.url()), new RegExp(`"field":"region".*${name}`))
    await page.keyboard.press('Escape')
    await page.locator('.grid-input :focus').waitFor()
  })

  await t.test('requests nothing from other hosts, and logs no errors', () => viewer.assertCalm())
})
