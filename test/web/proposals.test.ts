import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { cellAt, eventually, picture, settled, Viewer } from '../support/viewer.ts'

const AGENT = 'agent:editor'

interface Proposal {
  readonly state: string
  readonly decided_by: string | null
  readonly reason: string | null
}

test('proposals', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open('/')
  const pages = page.getByRole('navigation', { name: 'Pages' })
  const list = page.getByRole('region', { name: 'Proposals' })
  const messages = page.getByRole('region', { name: 'Notifications' })
  const dialog = page.getByRole('dialog')
  const propose = (change: object, actor = AGENT): Promise<Proposal> =>
    viewer.post('/api/proposals', { actor, ...change })
  const detail = (id: string) => page.getByRole('region', { name: `Proposal ${id}` })
  const record = (id: string, of: string) => detail(of).getByRole('article', { name: `Record ${id}` })
  const stateOf = (id: string): Promise<Proposal> => viewer.get(`/api/proposals/${id}`)

  await t.test('without proposals, the page explains them', async () => {
    await pages.getByRole('link', { name: 'Proposals', exact: true }).click()
    await page.getByRole('heading', { name: 'No waiting proposals' }).waitFor()
  })

  await t.test('a new proposal appears in the header, and in the list, automatically', async () => {
    await propose({
      note: 'Capitals by their own names',
      records: [
        { id: 'AT', name: 'Austria', capital: 'Wien', languages: ['German', 'Slovene'] },
        { id: 'BE', capital: 'Bruxelles' },
      ],
    })
    await pages.getByRole('link', { name: 'Proposals 1 waiting' }).waitFor()
    await list.getByText('Capitals by their own names').waitFor()
  })

  await t.test('it is opened by keyboard, and shown as differences', async () => {
    await list.getByRole('link', { name: /^Proposal 1/ }).focus()
    await page.keyboard.press('Enter')
    await detail('1')
      .getByText(/^Write 2 records: proposed by agent:editor/)
      .waitFor()
    const austria = record('AT', '1')
    await austria.getByText('Vienna').waitFor()
    await austria.getByText('Wien').waitFor()
    await austria.getByText('Slovene').waitFor()
    await austria.getByText('Austria').waitFor()
    assert.equal(await austria.getByRole('term').count(), 2, 'the name stays as it is')
    await record('BE', '1').getByText('Bruxelles').waitFor()
    await settled(page)
    await picture(page, 'proposal-open-light')
  })

  await t.test('it is accepted by keyboard, and the cells show both actors', async () => {
    await page.keyboard.press('Control+Enter')
    await messages.getByText('Proposal 1 accepted').waitFor()
    await detail('1')
      .getByText(/^Accepted by human:me/)
      .waitFor()
    assert.equal(await viewer.value('AT', 'capital'), 'Wien')
    await pages.getByRole('link', { name: 'Proposals', exact: true }).waitFor()
    await detail('1').getByRole('link', { name: 'AT' }).click()
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel
      .getByText(/^Written as proposed by agent:editor, accepted by human:me, /)
      .first()
      .waitFor()
    await picture(page, 'proposal-provenance-light')
    await panel.getByRole('link', { name: 'Proposal 1' }).click()
    await detail('1')
      .getByText(/^Accepted by human:me/)
      .waitFor()
  })

  await t.test(
    'one that conflicts with a later change says so at once, cannot be accepted, and is rejected',
    async () => {
      await propose({ records: [{ id: 'BE', capital: 'Brussel', currency: 'BEF' }] })
      await page.goto(`${viewer.url}/proposals/2`)
      await settled(page)
      const accept = detail('2').getByRole('button', { name: /^Accept/ })
      assert.ok(await accept.isEnabled())
      await viewer.post('/api/records', { actor: 'human:bob', records: [{ id: 'BE', capital: 'Brüssel' }] })
      await detail('2').getByText('The data has changed since this was proposed,').waitFor()
      await record('BE', '2').getByText('was changed in the meantime').waitFor()
      await record('BE', '2').getByText('Now Brüssel').waitFor()
      assert.ok(await accept.isDisabled())
      await picture(page, 'proposal-moved-light')
      await page.keyboard.press('Control+Enter')
      await page.keyboard.press('r')
      const why = dialog.getByRole('textbox', { name: 'Reason (optional)' })
      assert.equal(await why.inputValue(), 'Changed since the proposal: capital of BE')
      await picture(page, 'proposal-reject-light')
      await page.keyboard.press('End')
      await page.keyboard.type('. Ask again')
      await page.keyboard.press('Control+Enter')
      await detail('2')
        .getByText(/^Rejected by human:me/)
        .waitFor()
      const { state, decided_by: by, reason } = await stateOf('2')
      assert.deepEqual(
        [state, by, reason],
        ['rejected', 'human:me', 'Changed since the proposal: capital of BE. Ask again'],
      )
      assert.equal(await viewer.value('BE', 'capital'), 'Brüssel')
    },
  )

  await t.test('additions and deletions are shown as such', async () => {
    const country = { name: 'Nowhere', alpha3: 'XXX', numeric: '999', region: 'Europe' }
    const rest = { languages: [], landlocked: true, independent: false }
    await propose({ records: [{ id: 'XX', ...country, ...rest }] })
    await propose({ ids: ['BV'], note: 'Nobody lives there' })
    await page.goto(`${viewer.url}/proposals/3`)
    await record('XX', '3').getByText('new', { exact: true }).waitFor()
    await record('XX', '3').locator('ins', { hasText: 'Nowhere' }).waitFor()
    await list.getByRole('link', { name: /^Proposal 4/ }).click()
    await record('BV', '4').getByText('delete', { exact: true }).waitFor()
    await record('BV', '4').locator('del', { hasText: 'Norwegian' }).waitFor()
    await detail('4')
      .getByRole('button', { name: /^Accept/ })
      .click()
    await detail('4')
      .getByText(/^Accepted by human:me/)
      .waitFor()
    const response = await fetch(`${viewer.url}/api/records/BV`)
    assert.equal(response.status, 404)
  })

  await t.test('a decision of another person is shown', async () => {
    await page.goto(`${viewer.url}/proposals/3`)
    await detail('3')
      .getByRole('button', { name: /^Accept/ })
      .waitFor()
    await viewer.post('/api/proposals/3/reject', { actor: 'human:bob', reason: 'There is no such place' })
    await detail('3')
      .getByText(/^Rejected by human:bob/)
      .waitFor()
    await detail('3').getByText('There is no such place').waitFor()
    assert.equal(await detail('3').getByRole('button').count(), 0)
  })

  await t.test(
    'actors cannot accept their own proposals, or those beyond their permissions; they see why',
    async () => {
      await propose({ records: [{ id: 'CH', capital: 'Berne' }] }, 'human:me')
      await propose({ records: [{ id: 'CH', capital: 'Bern BE' }] })
      await page.goto(`${viewer.url}/proposals/5`)
      const own = detail('5')
      await own.getByText('You proposed this yourself: someone else has to accept it.').waitFor()
      assert.ok(await own.getByRole('button', { name: /^Accept/ }).isDisabled())
      await own.getByRole('button', { name: /^Withdraw/ }).click()
      await dialog.getByRole('button', { name: 'Withdraw' }).click()
      await own.getByText(/^Rejected by human:me/).waitFor()
      await page.getByRole('button', { name: 'You are human:me' }).click()
      await page.getByRole('textbox', { name: 'Who are you?' }).fill('agent:reviewer')
      await page.keyboard.press('Enter')
      await list.getByRole('link', { name: /^Proposal 6/ }).click()
      await detail('6').getByText('The contract does not allow agent:reviewer to write Capital.').waitFor()
      assert.ok(
        await detail('6')
          .getByRole('button', { name: /^Accept/ })
          .isDisabled(),
      )
    },
  )

  await t.test('each list of decided proposals has an address', async () => {
    await list.getByRole('link', { name: 'Rejected' }).click()
    await eventually(() => assert.match(page.url(), /\/proposals\?state=rejected$/))
    await eventually(async () => assert.equal(await list.getByRole('listitem').count(), 3))
    await list.getByRole('link', { name: /^Proposal 5/ }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await detail('3').waitFor()
    await page.reload()
    await detail('3').waitFor()
    await eventually(async () => assert.equal(await list.getByRole('listitem').count(), 3))
    await page.goto(`${viewer.url}/proposals/99`)
    await page.getByRole('alert').getByText('no proposal "99"').waitFor()
  })

  await t.test('the values in the grid follow', async () => {
    await page.goto(`${viewer.url}/?cell=AT~capital`)
    await (await cellAt(page, 11, 'Capital')).getByText('Wien').waitFor()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
