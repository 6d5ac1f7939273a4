import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { eventually, picture, settled, shows, Viewer } from '../support/viewer.ts'

test('cells by their state', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  await viewer.post('/api/records', {
    actor: 'human:ann',
    records: [{ id: 'AD', name_de: 'Fürstentum Andorra' }],
  })
  await viewer.post('/api/materialize', {
    actor: 'human:ann',
    targets: ['name_de'],
    record_ids: ['AE', 'AF'],
  })
  const page = await viewer.open()
  const chips = page.getByRole('group', { name: 'Filter by state' })
  const count = page.locator('.match-count')

  await t.test('chips have the number of cells in each state, and filter by it', async () => {
    const chip = chips.getByRole('button', { name: 'Overridden 1' })
    await chip.click()
    await shows(count, '1 of 249 records')
    assert.equal(await chip.getAttribute('aria-pressed'), 'true')
    await shows(page.locator('.filter-chip-text'), 'Any computed column state is overridden')
    await picture(page, 'state-chips-light')
  })

  await t.test('the address bar restores the filter, and the chip removes it', async () => {
    await page.reload()
    await settled(page)
    await shows(count, '1 of 249 records')
    await chips.getByRole('button', { name: 'Overridden 1' }).click()
    await shows(count, '249 records')
    await eventually(() => assert.equal(new URL(page.url()).searchParams.get('where'), null))
  })

  await t.test('a state of one column is a filter like any other', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('in german')
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Add a filter on Name in German' })
    await form.getByLabel('Operator').selectOption('inState')
    await form.getByRole('checkbox', { name: 'fresh' }).check()
    await form.getByRole('checkbox', { name: 'overridden' }).check()
    await picture(page, 'state-filter-light')
    await page.keyboard.press('Enter')
    await shows(count, '3 of 249 records')
    await settled(page)
    assert.deepEqual(await axeFaults(page), [])
  })

  assert.deepEqual(viewer.problems, [])
})
