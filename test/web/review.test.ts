import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { eventually, picture, settled, shows, Viewer, visit } from '../support/viewer.ts'

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
    assert.deepEqual(await axeFaults(page, { include: '.grid-toolbar' }), [])
  })

  await t.test('cells are reviewed one by one, by key', async () => {
    await visit(page, '/')
    await chips.getByRole('button', { name: 'Overridden 1' }).click()
    await chips.getByRole('button', { name: 'Review' }).click()
    const review = page.getByRole('region', { name: 'Review' })
    await shows(review.getByRole('status'), '1 of 1 cell')
    await shows(review.getByRole('article', { name: 'Value' }), /Fürstentum Andorra/)
    await shows(review.getByRole('complementary', { name: 'Inputs' }), /Code/)
    assert.deepEqual(await axeFaults(page, { include: '.review-mode' }), [])
    await picture(page, 'review-light')
    await page.keyboard.press('f')
    await page.keyboard.type('Is it official?')
    await page.keyboard.press('Enter')
    await review.getByText('Flagged by human:me').waitFor()
    await shows(review.getByRole('article', { name: 'Value' }), /: Is it official\?/)
    await page.keyboard.press('e')
    await review.getByRole('textbox', { name: 'Name in German' }).fill('Andorra (de)')
    await page.keyboard.press('Control+Enter')
    await shows(review.getByRole('article', { name: 'Value' }), /Andorra \(de\)/)
    await eventually(async () => assert.equal(await review.getByText('Flagged by').count(), 0))
    await page.keyboard.press('a')
    await review.getByText('Approved by human:me').waitFor()
    await page.keyboard.press('Escape')
    await review.waitFor({ state: 'detached' })
    await chips.getByRole('button', { name: 'Approved 1' }).waitFor()
    assert.equal(await viewer.value('AD', 'name_de'), 'Andorra (de)')
  })

  await t.test('failed cells are listed by reason, with a retry for each', async () => {
    const record = { id: 'ZZ', name: 'Nowhere', alpha3: 'ZZZ', numeric: '999', region: 'Europe', area: 1 }
    const others = { landlocked: false, independent: true, languages: ['xx'] }
    await viewer.post('/api/records', {
      actor: 'human:ann',
      records: [
        { ...record, ...others },
        { ...record, ...others, id: 'ZY', name: 'Nowhere else', alpha3: 'ZZY', numeric: '998' },
      ],
    })
    await viewer.post('/api/materialize', {
      actor: 'human:ann',
      targets: ['time_zones'],
      record_ids: ['ZZ', 'ZY'],
    })
    await chips.getByRole('button', { name: 'Failed 2' }).click()
    await chips.getByRole('button', { name: 'Review' }).click()
    const reasons = page.getByRole('region', { name: 'Failures by reason' })
    await shows(reasons.getByRole('listitem'), /\/… -> 404.*2 cells/)
    await reasons.getByRole('button', { name: /-> 404/ }).click()
    await shows(page.locator('.filter-chip-text').last(), /Any computed column failed with GET .*\/… -> 404/)
    await eventually(async () =>
      assert.equal(await reasons.getByRole('button', { pressed: true }).count(), 1),
    )
    await picture(page, 'review-failures-light')
    await reasons.getByRole('button', { name: 'Retry these 2…' }).click()
    await page.getByRole('dialog', { name: 'Retry 2 failed cells of Time zones' }).waitFor()
    assert.deepEqual(await axeFaults(page, { include: '[role=dialog]' }), [])
  })

  await t.test('cells are filtered and reviewed by who wrote their values', async () => {
    await page.keyboard.press('Escape')
    await visit(page, '/')
    await viewer.post('/api/records', { actor: 'agent:ada', records: [{ id: 'ZZ', name: 'Nowhere land' }] })
    await chips.getByRole('button', { name: 'By agents 1' }).click()
    await shows(count, '1 of 251 records')
    await shows(page.locator('.filter-chip-text'), 'Any column written by agent:*')
    await picture(page, 'writer-chips-light')
    await page.locator('.filter-chip-text').click()
    const form = page.getByRole('dialog', { name: 'Change the filter on Any column' })
    await form.getByRole('option', { name: 'agent:ada' }).click()
    await form.getByRole('option', { name: 'agent:*' }).click()
    await settled(page)
    await picture(page, 'writer-filter-light')
    assert.deepEqual(await axeFaults(page), [])
    await form.getByRole('button', { name: 'Apply' }).click()
    await shows(page.locator('.filter-chip-text'), 'Any column written by agent:ada')
    await shows(count, '1 of 251 records')
    await chips.getByRole('button', { name: 'Review' }).click()
    const review = page.getByRole('region', { name: 'Review' })
    await shows(review.getByRole('status'), '1 of 1 cell')
    await shows(review.getByRole('article', { name: 'Value' }), /Nowhere land/)
  })

  assert.deepEqual(viewer.problems, [])
})
