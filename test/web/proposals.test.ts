import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { assertAccessible } from '../support/panels.ts'
import { cellAt, eventually, picture, settled, Viewer, visit } from '../support/viewer.ts'

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
  const record = (id: string, of: string) => detail(of).getByRole('row', { name: `Record ${id}` })
  const focusedName = (): Promise<string | null> =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null)
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
    const heads = detail('1').getByRole('columnheader')
    assert.deepEqual(
      await heads.allInnerTexts(),
      ['', 'Record', 'Capital', 'Languages'],
      'the name stays as it is',
    )
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
      await visit(page, '/proposals/2')
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
    await visit(page, '/proposals/3')
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
    await visit(page, '/proposals/3')
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
      await visit(page, '/proposals/5')
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
    await visit(page, '/proposals/99')
    await page.getByRole('alert').getByText('no proposal "99"').waitFor()
  })

  await t.test('single values are ticked by keyboard and accepted, undone, and the others wait', async () => {
    const change = [
      { id: 'DE', capital: 'Berlin DE', currency: 'DEM' },
      { id: 'FR', capital: 'Paris FR' },
      { id: 'QQ', name: 'New', alpha3: 'QQQ', numeric: '998', region: 'Europe', languages: [] },
    ]
    await propose({ records: change.map((one) => ({ landlocked: false, independent: true, ...one })) })
    await page.getByRole('button', { name: 'You are agent:reviewer' }).click()
    await page.getByRole('textbox', { name: 'Who are you?' }).fill('human:me')
    await page.keyboard.press('Enter')
    await visit(page, '/proposals/7')
    const part = detail('7')
    const tick = (name: string) => part.getByRole('checkbox', { name, exact: true })
    await tick('All changes').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowRight')
    await eventually(async () => assert.equal(await focusedName(), 'Capital of DE'))
    await page.keyboard.press('Space')
    await tick('All of record QQ').click()
    await tick('All of record FR').click()
    await tick('Capital of FR').click()
    await part.getByRole('button', { name: /^Accept 8 values/ }).waitFor()
    await tick('Name of QQ').focus()
    await page.keyboard.press('Control+Enter')
    await messages.getByText('Proposal 7: 8 values accepted').waitFor()
    await part.getByText(/^Accepted in part by human:me/).waitFor()
    assert.deepEqual(
      [
        await viewer.value('DE', 'capital'),
        await viewer.value('DE', 'currency'),
        await viewer.value('QQ', 'name'),
      ],
      ['Berlin DE', 'EUR', 'New'],
    )
    assert.equal(await record('DE', '7').getByText('accepted').count(), 1)
    assert.deepEqual(
      await Promise.all(
        ['Capital of DE', 'Currency of DE', 'Capital of FR'].map((name) => tick(name).count()),
      ),
      [0, 1, 1],
    )
    await assertAccessible(page, 'proposal-part', { include: '.proposals-page' })
    await viewer.post('/api/records', { actor: 'human:bob', records: [{ id: 'FR', name: 'France F' }] })
    await messages.getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => assert.equal(await viewer.value('DE', 'capital'), 'Berlin'))
    await eventually(async () => assert.equal((await fetch(`${viewer.url}/api/records/QQ`)).status, 404))
    assert.equal(await viewer.value('FR', 'name'), 'France F', 'what was written later stays')
  })

  await t.test('cells of the grid show what is proposed for them, and lead to the proposal', async () => {
    await visit(page, '/?cell=DE~currency')
    const mark = page.getByRole('grid').getByRole('img', { name: 'Proposed by agent:editor: DEM' })
    await mark.waitFor()
    assert.equal(await mark.getAttribute('title'), 'Proposed by agent:editor: DEM')
    await settled(page)
    await picture(page, 'proposed-cells-light')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Show proposal 7' }).press('Enter')
    await detail('7').waitFor()
    await visit(page, '/?cell=DE~currency&panel=1')
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel.getByText('Proposed by agent:editor: DEM.').waitFor()
    await settled(page)
    await assertAccessible(page, 'proposed-panel', { include: '.cell-panel' })
    await panel.getByRole('link', { name: 'Proposal 7' }).click()
    await detail('7').waitFor()
  })

  await t.test('a ticked value is rejected, and the rest is accepted', async () => {
    const part = detail('7')
    await part.getByRole('checkbox', { name: 'All of Currency', exact: true }).click()
    await page.keyboard.press('r')
    await dialog.getByText('Reject 1 value of proposal 7?').waitFor()
    await page.keyboard.type('Euro')
    await page.keyboard.press('Control+Enter')
    await part.getByText(/^Rejected in part by human:me/).waitFor()
    await part.getByText('Euro', { exact: true }).waitFor()
    await part.getByRole('button', { name: /^Accept the rest/ }).click()
    await messages.getByText('Proposal 7: the rest accepted').waitFor()
    assert.deepEqual(
      [await viewer.value('FR', 'capital'), await viewer.value('DE', 'currency')],
      ['Paris FR', 'EUR'],
    )
    await eventually(async () => assert.equal(await part.getByRole('checkbox').count(), 0))
  })

  await t.test('the values in the grid follow', async () => {
    await visit(page, '/?cell=AT~capital')
    await (await cellAt(page, 11, 'Capital')).getByText('Wien').waitFor()
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
