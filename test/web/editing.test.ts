import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createClient } from '../../src/client/client.ts'
import { NO_BROWSER } from '../support/browser.ts'
import {
  cellAt,
  eventually,
  picture,
  scrollSideways,
  settled,
  shows,
  Viewer,
  visit,
} from '../support/viewer.ts'

/** Selects a cell with a click; the keyboard goes on from there. */
async function select(page: Page, row: number, title: string): Promise<void> {
  const cell = await cellAt(page, row, title)
  await cell.click()
  await eventually(async () => assert.equal(await cell.getAttribute('aria-selected'), 'true'))
}

test('editing', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const context = await viewer.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await viewer.open('/', context)
  const grid = page.getByRole('grid')
  const stored = (id: string, field: string, value: unknown): Promise<void> =>
    eventually(async () => assert.deepEqual(await viewer.value(id, field), value))

  await t.test('typing replaces the value, Enter saves it and moves down', async () => {
    await select(page, 0, 'Capital')
    await page.keyboard.type('Andorra City')
    await page.keyboard.press('Enter')
    await stored('AD', 'capital', 'Andorra City')
    await shows(await cellAt(page, 0, 'Capital'), 'Andorra City')
    await eventually(async () =>
      assert.match((await grid.getAttribute('aria-activedescendant')) ?? '', /^cell-1-/),
    )
  })

  await t.test('arrows, Tab, Home and End move', async () => {
    const column = async (): Promise<string> =>
      /-(\d+)$/.exec((await grid.getAttribute('aria-activedescendant')) ?? '')?.[1] ?? ''
    const before = Number(await column())
    await page.keyboard.press('Tab')
    await eventually(async () => assert.equal(Number(await column()), before + 1))
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ArrowLeft')
    await eventually(async () => assert.equal(Number(await column()), before - 1))
    await page.keyboard.press('Home')
    await eventually(async () => assert.equal(await column(), '0'))
    await page.keyboard.press('PageDown')
    await eventually(async () =>
      assert.doesNotMatch((await grid.getAttribute('aria-activedescendant')) ?? '', /^cell-1-/),
    )
    await page.keyboard.press('Control+Home')
    await eventually(async () => assert.equal(await grid.getAttribute('aria-activedescendant'), 'cell-0-0'))
  })

  await t.test('Escape leaves the cell as it was', async () => {
    await select(page, 1, 'Capital')
    await page.keyboard.press('Enter')
    const editor = page.getByRole('textbox', { name: 'Capital' })
    await editor.waitFor()
    assert.equal(await editor.inputValue(), 'Abu Dhabi')
    await page.keyboard.type(' and more')
    await page.keyboard.press('Escape')
    await editor.waitFor({ state: 'detached' })
    assert.equal(await viewer.value('AE', 'capital'), 'Abu Dhabi')
    await page.locator('.grid-input :focus').waitFor()
  })

  await t.test('a text in an open editor is lost neither at a reload nor by Forward', async () => {
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.goBack()
    await select(page, 2, 'Capital')
    await page.keyboard.type('Kabul City')
    const question = page.waitForEvent('dialog')
    const reload = page.evaluate(() => location.reload())
    const asked = await question
    assert.equal(asked.type(), 'beforeunload')
    await asked.dismiss()
    await reload
    assert.equal(await page.getByRole('textbox', { name: 'Capital' }).inputValue(), 'Kabul City')
    await page.goForward()
    await stored('AF', 'capital', 'Kabul City')
    await page.goBack()
    await shows(await cellAt(page, 2, 'Capital'), 'Kabul City')
    await select(page, 2, 'Capital')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Capital' }).waitFor()
    await page.reload()
    await settled(page)
    assert.equal(await page.getByRole('textbox', { name: 'Capital' }).count(), 0)
  })

  await t.test('what an input method composes goes into the selected cell as a whole', async () => {
    const keyboard = await context.newCDPSession(page)
    const compose = async (text: string): Promise<void> => {
      const selectionStart = text.length
      await keyboard.send('Input.imeSetComposition', { text, selectionStart, selectionEnd: selectionStart })
    }
    const editor = page.getByRole('textbox', { name: 'Capital', exact: true })
    await select(page, 3, 'Capital')
    for (const text of ['h', 'ha', 'han', '한']) await compose(text)
    const composing = await page.locator('.grid-input').boundingBox()
    const cell = await (await cellAt(page, 3, 'Capital')).boundingBox()
    assert.deepEqual([composing?.x, composing?.y], [cell?.x, cell?.y])
    // The next syllable begins in the same event in which the first one ends.
    const first = keyboard.send('Input.insertText', { text: '한' })
    await Promise.all([first, compose('ㄱ')])
    await compose('그')
    await keyboard.send('Input.insertText', { text: '글' })
    await eventually(async () => assert.equal(await editor.inputValue(), '한글'))
    await page.keyboard.type('!')
    await page.keyboard.press('Enter')
    await stored('AG', 'capital', '한글!')

    // A press elsewhere ends the composition, and saves the text in the cell for which it was composed.
    await select(page, 3, 'Capital')
    await compose('é')
    await select(page, 5, 'Capital')
    await stored('AG', 'capital', 'é')
    assert.equal(await viewer.value('AL', 'capital'), 'Tirana')

    // A composition that is cancelled changes nothing, and the keys are those of the grid again.
    await compose('n')
    await compose('')
    await page.keyboard.press('Delete')
    await stored('AL', 'capital', null)
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await stored('AG', 'capital', "Saint John's")
    await stored('AL', 'capital', 'Tirana')
  })

  await t.test('Delete empties, undo and redo go back and forth', async () => {
    await select(page, 1, 'Capital')
    await page.keyboard.press('Delete')
    await stored('AE', 'capital', null)
    await page.keyboard.press('Control+z')
    await stored('AE', 'capital', 'Abu Dhabi')
    await shows(await cellAt(page, 1, 'Capital'), 'Abu Dhabi')
    await page.keyboard.press('Control+Shift+z')
    await stored('AE', 'capital', null)
    await page.keyboard.press('Control+z')
    await stored('AE', 'capital', 'Abu Dhabi')
  })

  await t.test('Space ticks a checkbox, and opens the panel elsewhere', async () => {
    await scrollSideways(page, 1200)
    await select(page, 1, 'Landlocked')
    await page.keyboard.press('Space')
    await stored('AE', 'landlocked', true)
    await page.keyboard.press('Space')
    await stored('AE', 'landlocked', false)
    assert.equal(await page.getByRole('complementary', { name: 'Provenance' }).count(), 0)
    await scrollSideways(page, 0)
    await select(page, 1, 'Capital')
    await page.keyboard.press('Space')
    await page.getByRole('complementary', { name: 'Provenance' }).waitFor()
    await page.keyboard.press('Space')
  })

  await t.test('Ctrl+D fills down, and the cell where the range began stays active', async () => {
    await select(page, 3, 'Capital')
    const active = await grid.getAttribute('aria-activedescendant')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    assert.equal(await grid.getAttribute('aria-activedescendant'), active)
    await page.keyboard.press('Control+d')
    await stored('AL', 'capital', "Saint John's")
    assert.equal(await viewer.value('AI', 'capital'), "Saint John's")
    await page.keyboard.press('Control+z')
    await stored('AL', 'capital', 'Tirana')
  })

  await t.test('Ctrl+Enter sets all selected cells', async () => {
    await select(page, 3, 'Capital')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.type('Same')
    await page.getByText('Ctrl+Enter sets all 2 cells').waitFor()
    await page.keyboard.press('Control+Enter')
    await stored('AI', 'capital', 'Same')
    assert.equal(await viewer.value('AG', 'capital'), 'Same')
    await page.keyboard.press('Control+z')
    await stored('AI', 'capital', 'The Valley')
  })

  await t.test('dragging the handle of the selection fills, as the menu of the cells does', async () => {
    await select(page, 3, 'Capital')
    const handle = await page.locator('.grid-fill').boundingBox()
    const last = await (await cellAt(page, 5, 'Capital')).boundingBox()
    assert.ok(handle && last)
    await page.mouse.move(handle.x + 4, handle.y + 4)
    await page.mouse.down()
    await page.mouse.move(last.x + 40, last.y + 10, { steps: 4 })
    await page.mouse.up()
    await stored('AL', 'capital', "Saint John's")
    assert.equal(await viewer.value('AI', 'capital'), "Saint John's")
    assert.equal(await viewer.value('AM', 'capital'), 'Yerevan')
    await page.keyboard.press('Control+z')
    await stored('AL', 'capital', 'Tirana')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Fill down' }).waitFor()
    await page.keyboard.press('Escape')
    await (await cellAt(page, 4, 'Capital')).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Fill down' }).click()
    await stored('AI', 'capital', "Saint John's")
    await grid.focus()
    await page.keyboard.press('Control+z')
    await stored('AI', 'capital', 'The Valley')
  })

  await t.test('a closed list is a menu', async () => {
    await select(page, 1, 'Region')
    await page.keyboard.press('Enter')
    const menu = page.getByRole('combobox', { name: 'Region' })
    await menu.waitFor()
    assert.deepEqual(
      await page.getByRole('listbox', { name: 'Values', exact: true }).getByRole('option').allInnerTexts(),
      ['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania'],
    )
    await page.keyboard.type('oce')
    await page.keyboard.press('Enter')
    await stored('AE', 'region', 'Oceania')
    await page.keyboard.press('Control+z')
    await stored('AE', 'region', 'Asia')
  })

  await t.test('a refused value shows the reason, and is restored when it is discarded', async () => {
    await select(page, 0, 'Alpha-3')
    await page.keyboard.type('AFG')
    await page.keyboard.press('Enter')
    await select(page, 0, 'Alpha-3')
    const notice = page.getByRole('dialog', { name: 'Not saved' })
    await notice.getByText(/unique|already|AFG/i).waitFor()
    const cell = await cellAt(page, 0, 'Alpha-3')
    assert.equal(await cell.getAttribute('aria-invalid'), 'true')
    await picture(page, 'refused-light')
    await notice.getByRole('button', { name: 'Discard' }).click()
    await shows(cell, 'AND')
    assert.equal(await viewer.value('AD', 'alpha3'), 'AND')
  })

  await t.test('a change of another person during an edit is not overwritten silently', async () => {
    await select(page, 2, 'Capital')
    await page.keyboard.press('Enter')
    const editor = page.getByRole('textbox', { name: 'Capital' })
    await editor.fill('Mine')
    await viewer.post('/api/records', { records: [{ id: 'AF', capital: 'Theirs' }], actor: 'human:other' })
    // The page has heard of it before the edit is saved.
    await shows(await cellAt(page, 2, 'Capital'), 'Theirs')
    await editor.press('Control+Enter')
    const notice = page.getByRole('dialog', { name: 'Not saved' })
    await notice.getByText(/changed by someone else to .*Theirs/).waitFor()
    assert.equal(await viewer.value('AF', 'capital'), 'Theirs')
    await notice.getByRole('button', { name: 'Save again' }).click()
    await stored('AF', 'capital', 'Mine')
  })

  await t.test('an edit is written to its record, even if that has moved meanwhile', async () => {
    await visit(page, '/?sort=name')
    await shows(await cellAt(page, 1, 'Code'), 'AL')
    await select(page, 1, 'Subregion')
    await page.keyboard.press('Enter')
    const editor = page.getByRole('textbox', { name: 'Subregion' })
    await editor.fill('Balkans')
    await viewer.post('/api/records', { records: [{ id: 'AL', name: 'A new name' }], actor: 'human:other' })
    await shows(await cellAt(page, 0, 'Code'), 'AL')
    await editor.press('Enter')
    await stored('AL', 'subregion', 'Balkans')
    await visit(page, '/')
    await shows(await cellAt(page, 0, 'Code'), 'AD')
  })

  await t.test('a range is copied and pasted, as spreadsheets do', async () => {
    await select(page, 3, 'Capital')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Control+c')
    const copied = (): Promise<string> => page.evaluate('navigator.clipboard.readText()')
    await eventually(async () =>
      assert.equal(
        (await copied()).replaceAll('\r', '').trimEnd(),
        "Saint John's\tAmericas\nThe Valley\tAmericas",
      ),
    )
    await page.evaluate(`navigator.clipboard.writeText('One\\tAsia\\nTwo\\tEurope')`)
    await page.keyboard.press('Control+v')
    await stored('AG', 'capital', 'One')
    await stored('AI', 'region', 'Europe')
    await page.keyboard.press('Control+z')
    await stored('AG', 'capital', "Saint John's")
    await stored('AI', 'region', 'Americas')
    await select(page, 3, 'Capital')
    await page.evaluate(`navigator.clipboard.writeText('Region\\tCapital\\nAsia\\tThree')`)
    await page.keyboard.press('Control+v')
    await stored('AG', 'capital', 'Three')
    await stored('AI', 'capital', 'The Valley')
    await page.keyboard.press('Control+z')
    await stored('AG', 'region', 'Americas')
  })

  await t.test('a number that could mean two is shown with both before it is pasted', async () => {
    await scrollSideways(page, 200)
    await select(page, 3, 'Area')
    await page.evaluate(`navigator.clipboard.writeText('83,601')`)
    await page.keyboard.press('Control+v')
    const dialog = page.getByRole('dialog', { name: 'Paste' })
    await dialog.getByText('83,601 → 83601').waitFor()
    await picture(page, 'paste-light')
    await dialog.getByLabel(/^Decimal comma/).click()
    await dialog.getByRole('button', { name: 'Paste' }).click()
    await dialog.waitFor({ state: 'detached' })
    await stored('AG', 'area', 83.601)
    await page.keyboard.type('83,601')
    await page.locator('.editor-hint').getByText('= 83601').waitFor()
    await page.keyboard.press('Control+Enter')
    await stored('AG', 'area', 83601)
    await scrollSideways(page, 0)
  })

  await t.test('the menu of a row is about its record, and by keyboard about the selected ones', async () => {
    const row = (index: number) => page.locator(`.grid-row[data-row="${index}"] .grid-gutter`)
    const item = (name: string | RegExp) => page.getByRole('menuitem', { name, exact: true })
    await grid.focus()
    await page.keyboard.press('Control+Home')
    await row(3).click({ button: 'right' })
    await picture(page, 'row-menu-light')
    await item('Copy record').click()
    await eventually(async () =>
      assert.match(
        await page.evaluate<string>('navigator.clipboard.readText()'),
        /^AG\tAntigua and Barbuda\t/,
      ),
    )
    await row(3).click({ button: 'right' })
    await item('Show history').click()
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel
      .getByRole('region', { name: 'History of the record' })
      .getByText('Written by')
      .first()
      .waitFor()
    await picture(page, 'record-history-light')
    await panel.getByRole('button', { name: 'Capital' }).first().click()
    await panel.getByRole('heading', { name: /^History/ }).waitFor()
    await panel.getByRole('button', { name: 'Close the panel' }).click()
    // Whole rows that are selected, by keyboard.
    await grid.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Shift+End')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+F10')
    await item('Delete 2 records…').press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Delete 2 records?' })
    await dialog.getByText('Antigua').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    // Checked records, of which the row is one.
    await grid.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Shift+Space')
    await row(7).click()
    await row(7).click({ button: 'right' })
    await item(/^Compute 2 records/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear selection' }).click()
  })

  await t.test('a record is added, with errors shown at the fields', async () => {
    await page.getByRole('button', { name: 'Add record' }).click()
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.getByLabel(/^Code/).fill('ZZ')
    await dialog.getByLabel(/^Name(required)?$/).fill('Nowhere')
    await dialog.getByLabel(/^Alpha-3/).fill('zz')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('alert').first().waitFor()
    await picture(page, 'new-record-light')
    await dialog.getByLabel(/^Alpha-3/).fill('ZZZ')
    await dialog.getByLabel(/^Numeric code/).fill('999')
    await dialog.getByLabel(/^Region/).selectOption('Antarctic')
    await dialog.getByLabel(/^Languages/).fill('Silence')
    await dialog.getByLabel(/^Landlocked/).selectOption({ index: 1 })
    await dialog.getByLabel(/^Independent/).selectOption({ index: 1 })
    // Shift+Enter begins a line, Enter creates the record.
    await dialog.getByLabel(/^Capital/).click()
    await page.keyboard.type('North')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('South')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await viewer.value('ZZ', 'name'), 'Nowhere')
    assert.equal(await viewer.value('ZZ', 'capital'), 'North\nSouth')
    await shows(page.locator('.match-count'), '250 records')
    await eventually(async () =>
      assert.match((await grid.getAttribute('aria-activedescendant')) ?? '', /^cell-249-/),
    )
  })

  await t.test('a record is deleted after a confirmation, and restored with Undo', async () => {
    await grid.focus()
    await page.keyboard.press('Shift+Space')
    await page.getByRole('group', { name: 'Selected records' }).getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Delete the selected records' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 1 record?' })
    await dialog.getByText('ZZNowhere').waitFor()
    await dialog.getByRole('button', { name: 'Delete 1 record' }).click()
    await shows(page.locator('.match-count'), '249 records')
    await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
    await shows(page.locator('.match-count'), '250 records')
    await stored('ZZ', 'name', 'Nowhere')
    await grid.focus()
    await page.keyboard.press('Control+z')
    await shows(page.locator('.match-count'), '249 records')
    await page.keyboard.press('Control+Shift+z')
    await shows(page.locator('.match-count'), '250 records')
  })

  await t.test('the panel of a deleted record restores it', async () => {
    await createClient({ baseUrl: viewer.url }).records.delete(['ZZ'], { actor: 'human:ann' })
    await visit(page, '/?cell=ZZ~name&panel=1')
    await page.getByRole('button', { name: 'Restore record' }).click()
    await stored('ZZ', 'name', 'Nowhere')
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel
      .getByText(/^Restored with its record by human:me/)
      .first()
      .waitFor()
  })

  await t.test('another tab sees an edit without a reload', async () => {
    await visit(page, '/')
    const other = await viewer.open('/', context)
    await shows(await cellAt(other, 0, 'Capital'), 'Andorra City')
    await page.bringToFront()
    await grid.focus()
    await page.keyboard.press('Control+Home')
    await select(page, 0, 'Capital')
    await page.keyboard.type('Andorra la Vella')
    await page.keyboard.press('Enter')
    await shows(await cellAt(other, 0, 'Capital'), 'Andorra la Vella')
    await other.close()
  })

  await t.test('an actor who may not write a field sees the reason, and the name is remembered', async () => {
    await page.getByRole('button', { name: 'You are human:me' }).click()
    await page.getByLabel('Who are you?').fill('agent:bot')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'You are agent:bot' }).waitFor()
    const cell = await cellAt(page, 0, 'Capital')
    await eventually(async () => assert.equal(await cell.getAttribute('aria-readonly'), 'true'))
    await select(page, 0, 'Capital')
    await page.keyboard.type('x')
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByText('the contract does not allow you to edit this')
      .waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'You are agent:bot' }).waitFor()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
