import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, picture, settled, shows, Viewer } from '../support/viewer.ts'

test('views', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const where = JSON.stringify([{ field: 'region', is: 'equals', value: 'Africa' }])
  const page = await viewer.open(`/?sort=-area&where=${encodeURIComponent(where)}`)
  const button = page.getByRole('button', { name: /^View: / })
  const count = page.locator('.match-count')
  const choose = async (item: string | RegExp): Promise<void> => {
    await button.click()
    const role = typeof item === 'string' ? 'menuitemradio' : 'menuitem'
    await page.getByRole(role, { name: item }).click()
  }
  const dialog = page.getByRole('dialog')

  await t.test('what the grid shows is saved under a name, and the URL is that of the view', async () => {
    await page.getByRole('button', { name: /^Columns/ }).click()
    await page.getByRole('checkbox', { name: 'Alpha-3', exact: true }).uncheck()
    await page.keyboard.press('Escape')
    await choose(/^Save as a new view/)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Large in Africa')
    await page.keyboard.press('Enter')
    await shows(button, 'View: Large in Africa')
    assert.match(page.url(), /\/\?view=\w+$/)
    await shows(count, /^59 of 249/)
    await shows(await cellAt(page, 0, 'Name'), 'Algeria')
  })

  const url = page.url()
  await t.test('someone else who opens the URL sees the same', async () => {
    const other = await viewer.open(url.slice(viewer.url.length))
    await shows(other.locator('.match-count'), /^59 of 249/)
    await shows(await cellAt(other, 0, 'Name'), 'Algeria')
    assert.equal(await other.getByRole('columnheader', { name: 'Alpha-3', exact: true }).count(), 0)
    await other.getByRole('button', { name: 'View: Large in Africa' }).click()
    await other.getByRole('menuitemradio', { name: 'All records' }).click()
    await shows(other.locator('.match-count'), '249 records')
    await other.getByRole('columnheader', { name: 'Alpha-3', exact: true }).waitFor()
    await other.context().close()
  })

  await t.test('changes are shown as such, and discarded or saved', async () => {
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await shows(count, '249 records')
    await shows(button, 'View: Large in Africa changed')
    await page.reload()
    await settled(page)
    await shows(count, '249 records')
    await choose(/^Discard the changes/)
    await shows(count, /^59 of 249/)
    await shows(button, 'View: Large in Africa')
    await page.goto(`${url}&sort=name`)
    await settled(page)
    await choose(/^Save the changes to Large in Africa/)
    await shows(button, 'View: Large in Africa')
    await eventually(() => assert.equal(page.url(), url))
    await shows(await cellAt(page, 0, 'Name'), 'Algeria')
    await shows(await cellAt(page, 1, 'Name'), 'Angola')
    await button.click()
    await page.getByRole('menu').waitFor()
    await picture(page, 'views-light')
    assert.deepEqual(await axeFaults(page, { include: '[role=menu]' }), [])
    await page.keyboard.press('Escape')
  })

  await t.test('a view is renamed, and its URL stays', async () => {
    await choose(/^Rename/)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Africa')
    await page.keyboard.press('Enter')
    await shows(button, 'View: Africa')
    assert.equal(page.url(), url)
    await choose(/^Save as a new view/)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Africa')
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText('a view is named "Africa" already').waitFor()
    await picture(page, 'views-dialog-light')
    await page.keyboard.press('Escape')
  })

  await t.test('the command menu opens a view, and a deleted one is named as such', async () => {
    await choose('All records')
    await shows(count, '249 records')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('open the view africa')
    await page.keyboard.press('Enter')
    await shows(count, /^59 of 249/)
    await choose(/^Delete/)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await shows(button, 'View: All records')
    await page.goto(url)
    await settled(page)
    await shows(button, 'View: Deleted view')
    await shows(count, '249 records')
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
