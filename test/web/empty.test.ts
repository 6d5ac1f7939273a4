import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { onEnd } from '../support/on-end.ts'
import { runColophon } from '../support/run-colophon.ts'
import { cellAt, picture, SheetViewer, shows } from '../support/viewer.ts'

const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: books
version: 1.0.0
status: active
schema:
  - name: Books
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: title, logicalType: string, required: true}
      - {name: year, logicalType: integer}
`

async function emptySheet(t: TestContext, contract = CONTRACT): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-empty-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'contract.yaml'), contract)
  return directory
}

test('pasting into a sheet without records creates them', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await emptySheet(t))
  const context = await viewer.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await viewer.open('/', context)
  const paste = async (text: string): Promise<void> => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+v')
  }
  const dialog = page.getByRole('dialog', { name: 'Paste' })

  await t.test('with ids that continue', async () => {
    await paste('title\tyear\nEmma\t1,815\nUlysses\t1922')
    await dialog.getByText('2 records will be created').waitFor()
    await picture(page, 'paste-create-light')
    await dialog.getByRole('button', { name: 'Paste' }).click()
    await shows(page.locator('.match-count'), '2 records')
    assert.deepEqual(await viewer.get('/api/records/1'), { id: '1', title: 'Emma', year: 1815 })
    assert.equal(await viewer.value('2', 'title'), 'Ulysses')
  })

  await t.test('and below the last record as well; the id is no cell to write', async () => {
    await (await cellAt(page, 1, 'id')).click()
    await paste('x\tUlysses 2\n7\tDracula')
    await shows(page.locator('.match-count'), '3 records')
    await page.getByText('1 column not pasted. id identifies the record and cannot be changed').waitFor()
    assert.equal(await viewer.value('2', 'title'), 'Ulysses 2')
    assert.equal(await viewer.value('7', 'title'), 'Dracula')
  })

  await t.test('a record that is added below the others gets an id as well', async () => {
    await page.getByRole('button', { name: 'New record' }).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Shift+Enter')
    const form = page.getByRole('dialog', { name: 'New record' })
    await form.getByLabel(/^title/).fill('Persuasion')
    await form.getByRole('button', { name: 'Create' }).click()
    await shows(page.locator('.match-count'), '4 records')
    assert.equal(await viewer.value('8', 'title'), 'Persuasion')
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})

test('a record without values is added below the others at once', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(
    t,
    await emptySheet(t, CONTRACT.replace(/(title.*), required: true/, '$1')),
  )
  await viewer.post('/api/records', { actor: 'human:ann', records: [{ id: '1', title: 'Emma' }] })
  const page = await viewer.open()

  await t.test('keys pressed before it exists change and create no other record', async () => {
    await (await cellAt(page, 0, 'title')).click()
    const { promise: typed, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/api/records', async (route) => {
      await typed
      await route.continue()
    })
    const created = page.waitForRequest('**/api/records')
    await page.keyboard.press('Shift+Enter')
    await created
    await page.keyboard.type('x')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    release()
    await page.getByText('Record 2 created').waitFor()
    await shows(page.locator('.grid-cell.active'), 'no value')
    await page.keyboard.type('Ulysses')
    await page.keyboard.press('Enter')
    await shows(await cellAt(page, 1, 'title'), 'Ulysses')
    await shows(page.locator('.match-count'), '2 records')
    assert.equal(await viewer.value('1', 'title'), 'Emma')
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})

test('a sheet without records', { skip: NO_BROWSER }, async (t) => {
  const directory = await emptySheet(t)
  const viewer = await SheetViewer.on(t, directory)
  const page = await viewer.open()

  await t.test('shows how to add records', async () => {
    await page.getByRole('heading', { name: 'No records yet' }).waitFor()
    await page.getByText('colophon import <sheet> data.csv --actor you').waitFor()
    await page.getByText('POST /api/records').waitFor()
    await picture(page, 'empty-light')
    const context = await viewer.newContext({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const narrow = await viewer.open('/', context)
    await narrow.getByRole('button', { name: 'Add the first record' }).waitFor()
    const [scrolled, wide] = await narrow.evaluate<number[]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )
    assert.ok((scrolled ?? 0) <= (wide ?? 0), `${scrolled} px in ${wide}`)
    await picture(narrow, 'empty-narrow-dark')
    await context.close()
  })

  await t.test('gets its first by keyboard', async () => {
    await page.getByRole('button', { name: 'Add the first record' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New record' })
    await dialog.waitFor()
    await dialog.getByLabel(/^id/).fill('b1')
    await dialog.getByLabel(/^title/).fill('Middlemarch')
    await dialog.getByLabel(/^year/).fill('1871')
    await page.keyboard.press('Enter')
    await shows(await cellAt(page, 0, 'title'), 'Middlemarch')
    await shows(page.locator('.match-count'), '1 record')
    assert.deepEqual(await viewer.get('/api/records/b1'), { id: 'b1', title: 'Middlemarch', year: 1871 })
  })

  await t.test('shows writes of others at once', async () => {
    await viewer.post('/api/records', {
      actor: 'human:me',
      records: [{ id: 'b2', title: 'Emma', year: 1815 }],
    })
    await shows(page.locator('.match-count'), '2 records')
    await shows(await cellAt(page, 1, 'title'), 'Emma')
  })

  await t.test('shows at once the records that its suggested command imports', async () => {
    const file = join(directory, 'data.csv')
    await writeFile(file, 'id,title,year\nb3,Ulysses,1922\n')
    const { code } = await runColophon(['import', directory, file, '--actor', 'you'])
    assert.equal(code, 0)
    await shows(page.locator('.match-count'), '3 records')
    await shows(await cellAt(page, 2, 'title'), 'Ulysses')
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
