import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client/client.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { assertAccessible } from '../support/panels.ts'
import { eventually, settled, Viewer, visit } from '../support/viewer.ts'

test('deleted records', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open('/')
  const bin = page.getByRole('region', { name: 'Deleted records' })
  const row = (id: string) => bin.getByRole('row', { name: `Record ${id}` })
  const messages = page.getByRole('region', { name: 'Notifications' })
  const client = createClient({ baseUrl: viewer.url })
  const remove = (actor: string, ...ids: string[]): Promise<unknown> => client.records.delete(ids, { actor })

  await t.test('the page is reached from the menu and the palette, and is empty at first', async () => {
    await page.getByRole('button', { name: 'Files' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Deleted records' }).press('Enter')
    await bin.getByRole('heading', { name: 'No deleted records' }).waitFor()
    await visit(page, '/')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('deleted rec')
    await page.keyboard.press('Enter')
    await bin.getByRole('heading', { name: 'No deleted records' }).waitFor()
  })

  await t.test(
    'it lists who deleted a record, when, and its last values, the last deleted first',
    async () => {
      await remove('human:bob', 'AD', 'AE')
      await remove('human:ann', 'AT')
      await row('AT').getByText('Vienna').waitFor()
      await row('AD').getByText('human:bob').waitFor()
      assert.deepEqual(await bin.getByRole('rowheader').allInnerTexts(), ['AT', 'AE', 'AD'])
    },
  )

  await t.test('a record whose id exists again cannot be restored, and the row says so', async () => {
    const { name, alpha3, numeric, region } = { name: 'New', alpha3: 'XXA', numeric: '997', region: 'Europe' }
    const record = {
      id: 'AE',
      name,
      alpha3,
      numeric,
      region,
      languages: [],
      landlocked: false,
      independent: true,
    }
    await viewer.post('/api/records', { actor: 'human:bob', records: [record] })
    await row('AE').getByText('Cannot be restored: a record with this id exists again.').waitFor()
    assert.equal(await row('AE').getByRole('checkbox').count(), 0)
    await settled(page)
    await assertAccessible(page, 'deleted', { include: '.deleted-page' })
  })

  await t.test('one is restored by keyboard, with an entry in the log', async () => {
    await row('AD').getByRole('button', { name: 'Restore AD' }).press('Enter')
    await messages.getByText('1 record restored').waitFor()
    await eventually(async () => assert.equal(await row('AD').count(), 0))
    const entry = await viewer.get<{ source: string; actor: string }>(
      '/api/provenance?record_id=AD&field=name',
    )
    assert.deepEqual([entry.source, entry.actor], ['revert', 'human:me'])
  })

  await t.test('several that are ticked are restored together', async () => {
    await remove('human:ann', 'AF', 'AG')
    await row('AG').waitFor()
    await bin.getByRole('checkbox', { name: 'All records' }).press('Space')
    await row('AF').getByRole('checkbox').press('Space')
    await bin.getByRole('button', { name: 'Restore 2 records' }).press('Enter')
    await messages.getByText('2 records restored').waitFor()
    await eventually(async () =>
      assert.deepEqual(await bin.getByRole('rowheader').allInnerTexts(), ['AF', 'AE']),
    )
    assert.equal(await viewer.value('AT', 'capital'), 'Vienna')
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
