import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, picture, shows, Viewer, visit } from '../support/viewer.ts'

test('find', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open()
  const bar = page.getByRole('search', { name: 'Find in the records' })
  const text = bar.getByRole('textbox', { name: 'Text to find' })
  const status = bar.getByRole('status')
  const active = page.locator('.grid-cell.active')

  await t.test('Ctrl+F selects the first match, and shows how many records match', async () => {
    await (await cellAt(page, 0, 'Capital')).click()
    await page.keyboard.press('Control+f')
    await page.keyboard.type('guinea')
    await shows(status, '1 of 4 records')
    assert.equal(await text.inputValue(), 'guinea', 'no key goes into the selected cell')
    await shows(active, /Guinea$/)
    await picture(page, 'find-light')
    assert.deepEqual(await axeFaults(page, { include: '.find-bar' }), [])
  })

  await t.test('Enter and Shift+Enter go from match to match, and around', async () => {
    await page.keyboard.press('Enter')
    await shows(status, '2 of 4 records')
    await shows(active, 'Equatorial Guinea')
    await page.keyboard.press('Shift+Enter')
    await shows(status, '1 of 4 records')
    await page.keyboard.press('Shift+Enter')
    await shows(status, '4 of 4 records')
    await shows(active, 'Papua New Guinea')
    await page.keyboard.press('Enter')
    await shows(status, '1 of 4 records')
  })

  await t.test('the visible matches are marked', async () => {
    const marked = (): Promise<string[]> =>
      page.evaluate(() => [...(CSS.highlights.get('find') ?? [])].map((range) => (range as Range).toString()))
    await eventually(async () => {
      const texts = await marked()
      assert.ok(texts.length >= 3 && texts.every((each) => each === 'Guinea'), texts.join())
    })
  })

  await t.test('numbers are found as they are shown, from the selected record on', async () => {
    await text.fill('83,600')
    await shows(status, '1 of 1 record')
    await shows(active, '83,600')
    await text.fill('no such text')
    await shows(status, 'No matches')
  })

  await t.test('only the records that the list shows are searched, in its order', async () => {
    const where = JSON.stringify([{ field: 'region', is: 'equals', value: 'Africa' }])
    await visit(page, `/?sort=-name&where=${encodeURIComponent(where)}`)
    await page.getByRole('button', { name: 'Find (Ctrl+F)' }).click()
    await text.fill('guinea')
    await shows(status, '1 of 3 records')
    await shows(active, 'Guinea-Bissau')
    await page.keyboard.press('Enter')
    await shows(active, /^Portuguese/)
    await page.keyboard.press('Enter')
    await shows(active, 'Guinea')
    await page.keyboard.press('Escape')
    await eventually(async () => assert.equal(await bar.count(), 0))
    await page.locator('.grid-input :focus').waitFor()
    assert.equal(await page.evaluate(() => CSS.highlights.has('find')), false)
  })

  await t.test('Ctrl+F in an editor saves the value, and finds', async () => {
    await visit(page, '/?cell=AD~capital')
    await page.keyboard.type('Hereabouts')
    await page.keyboard.press('Control+f')
    await page.keyboard.type('Hereabouts')
    await shows(status, '1 of 1 record')
    assert.equal(await viewer.value('AD', 'capital'), 'Hereabouts')
  })

  await t.test('the command menu finds records', async () => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('conakry')
    const option = page.getByRole('option', { name: /^GN Guinea Capital: Conakry/ })
    await option.waitFor()
    await picture(page, 'found-records-light')
    await page.keyboard.press('Enter')
    await shows(active, 'Conakry')
    await shows(await cellAt(page, 85, 'Capital'), 'Conakry')
    assert.equal(new URL(page.url()).searchParams.get('where'), null)
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
