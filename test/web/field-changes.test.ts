import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ServeOptions } from '../../src/cli/commands/serve/run-serve.ts'
import { createClient } from '../../src/client/client.ts'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { contractText } from '../support/contract-with.ts'
import { applyEdits } from '../support/engine.ts'
import { assertAccessible, chooseByKeyboard, openMenu } from '../support/panels.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { cellAt, eventually, picture, settled, shows, SheetViewer, Viewer, visit } from '../support/viewer.ts'

const TOWNS = {
  contract: contractText([
    '{name: name, logicalType: string}',
    '{name: people, logicalType: string} # as in the register',
    '{name: area, logicalType: number}',
    '{name: density, logicalType: number}',
  ]),
  records: [
    { id: '1', name: 'Ulm', people: '126949', area: 118.7 },
    { id: '2', name: 'Passau', people: '53907', area: 69.6 },
    { id: '3', name: 'Arnis', people: 'about 270', area: 0.45 },
  ],
  derivations: {
    'density.yaml': 'targets: [density]\nkind: sql\nexpression: round(CAST(people AS INTEGER) / area)\n',
  },
}

async function towns(t: TestContext, options: Partial<ServeOptions> = {}): Promise<SheetViewer> {
  return SheetViewer.on(t, await writeSheet(t, TOWNS), options)
}

/** The names and types of the fields. */
async function fieldsOf(viewer: SheetViewer): Promise<readonly string[]> {
  const { schema } = await viewer.get<{
    schema: [{ properties: { name: string; logicalType: string }[] }]
  }>('/api/contract')
  return schema[0].properties.map(({ name, logicalType }) => `${name} ${logicalType}`)
}

/** Changes a text in the contract, as another person does. */
async function editContract(viewer: SheetViewer, from: string, to: string, renamed = {}): Promise<void> {
  const { definition } = createClient({ baseUrl: viewer.url, actor: 'human:ben' })
  const { text } = await definition.readContractText()
  await definition.writeContract({ text: text.replace(from, to), renamed })
}

test('fields are changed in the grid', { skip: NO_BROWSER }, async (t) => {
  const viewer = await towns(t)
  const page = await viewer.open('/?sort=people')
  const adding = page.getByRole('complementary', { name: 'Add a column' })
  const status = page.locator('.column-drawer').getByRole('status')

  await t.test('a column is added beside another one, with a type guessed from its name', async () => {
    await chooseByKeyboard(page, 'area', 'Insert left')
    const name = adding.getByLabel('Name')
    assert.equal(await adding.getByRole('radio', { name: /^Script/ }).count(), 0)
    await eventually(async () => assert.ok(await name.evaluate((element) => element.matches(':focus'))))
    await page.keyboard.type('Founded (year)')
    await page.locator('.grid-head-cell.ghost').getByText('Founded (year)').waitFor()
    await shows(status, 'founded_year is added.')
    assert.equal(await adding.getByLabel('Type').inputValue(), 'integer')
    await assertAccessible(page, 'column-add', { include: '.column-drawer' })
    await page.keyboard.press('Enter')
    await page.getByText('Added the column Founded (year)').waitFor()
    await page.getByRole('columnheader', { name: 'Founded (year)', exact: true }).waitFor()
    assert.deepEqual(await fieldsOf(viewer), [
      'id string',
      'name string',
      'people string',
      'founded_year integer',
      'area number',
      'density number',
    ])
    assert.equal(await page.locator('.ghost').count(), 0)
  })

  await t.test('its first cell is selected, so that one can type', async () => {
    await eventually(async () => {
      const [, column] = new URL(page.url()).searchParams.get('cell')?.split('~') ?? []
      assert.equal(column, 'founded_year')
    })
    await page.keyboard.type('854')
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(await viewer.value('1', 'founded_year'), 854))
  })

  await t.test('a renamed field keeps its values, its place in formulas and in the sort order', async () => {
    await (await openMenu(page, 'people')).getByRole('menuitem', { name: 'Edit field…' }).click()
    const editing = page.getByRole('complementary', { name: 'Edit people' })
    await editing.getByLabel('Name').fill('population')
    await status.getByText('people becomes population. 3 values are kept, with their history.').waitFor()
    await status.getByText('The change also edits density.yaml.').waitFor()
    await editing.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Renamed people to population').waitFor()
    await page.getByRole('columnheader', { name: 'population', exact: true }).waitFor()
    assert.equal(await viewer.value('1', 'population'), '126949')
    assert.equal(new URL(page.url()).searchParams.get('sort'), 'population')
  })

  await t.test('a type is converted once the value that does not fit is given up', async () => {
    await (await openMenu(page, 'population')).getByRole('menuitem', { name: 'Edit field…' }).click()
    const editing = page.getByRole('complementary', { name: 'Edit population' })
    const save = editing.getByRole('button', { name: 'Save' })
    await editing.getByLabel('Type').selectOption('Whole number')
    await status.getByText('2 values of population are converted.').waitFor()
    await status.getByRole('cell', { name: 'about 270' }).waitFor()
    assert.equal(await save.isDisabled(), true)
    await assertAccessible(page, 'column-edit', { include: '.column-drawer' })
    await status.getByRole('checkbox', { name: /^Empty 1 cell/ }).check()
    await save.click()
    await eventually(async () => assert.equal(await viewer.value('1', 'population'), 126_949))
    assert.equal(await viewer.value('3', 'population'), null)
  })

  await t.test('Undo brings the type and the value back', async () => {
    const saved = page.locator('.toast').filter({ hasText: 'Changed population' })
    await saved.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The change was taken back').waitFor()
    assert.equal(await viewer.value('3', 'population'), 'about 270')
    await shows(await cellAt(page, 2, 'population'), 'about 270')
  })

  await t.test('a field is removed with the number of its values seen', async () => {
    await (await openMenu(page, 'name')).getByRole('menuitem', { name: 'Edit field…' }).click()
    await page.getByRole('button', { name: 'Remove field…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove name?' })
    await dialog.getByText('name is removed, with 3 values. Undo brings them back.').waitFor()
    await picture(page, 'column-remove')
    assert.deepEqual(await axeFaults(page, { include: '[role=dialog]' }), [])
    await dialog.getByRole('button', { name: 'Remove field' }).click()
    await page.getByText('Removed name').waitFor()
    await eventually(async () => assert.equal((await fieldsOf(viewer)).includes('name string'), false))
  })

  await t.test('the changes are listed with their texts, and the last is taken back there', async () => {
    await page.goto(`${viewer.url}/contract?tab=changes`)
    await settled(page)
    const changes = page.locator('.definition-changes > li')
    assert.equal(await changes.count(), 5)
    await changes.first().locator('summary').click()
    await changes.first().locator('del').getByText('name: name').waitFor()
    await assertAccessible(page, 'definition-changes', { include: '.contract-page' })
    await page.getByRole('button', { name: 'Undo…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo this change?' })
    await dialog.getByText('name is restored. 3 values are kept, with their history.').waitFor()
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await eventually(async () => assert.equal(await viewer.value('2', 'name'), 'Passau'))
  })

  await t.test('changes of two people are merged, and where they differ the person chooses', async () => {
    await page.goto(`${viewer.url}/?edit=area`)
    const editing = page.getByRole('complementary', { name: /^Edit/ })
    await editing.getByLabel('Heading').fill('Mine')
    await status.getByText('No value changes.').waitFor()
    await editContract(viewer, '{name: area,', '{name: area, businessName: Theirs, description: In km²,')
    const conflict = editing.getByRole('region', { name: 'Changed meanwhile' })
    await shows(conflict.getByRole('row', { name: /^Heading/ }), 'Heading – Theirs Mine')
    assert.equal(await editing.getByRole('button', { name: 'Save' }).isDisabled(), true)
    await assertAccessible(page, 'column-conflict', { include: '.column-drawer' })
    await conflict.getByRole('button', { name: 'Keep mine' }).click()
    await editing.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changed Mine').waitFor()
    const { text } = await createClient({ baseUrl: viewer.url }).definition.readContractText()
    assert.match(text, /\{name: area, businessName: Mine, description: In km²,/)
  })

  await t.test('what was typed stays when another person removes the field', async () => {
    await page.goto(`${viewer.url}/?edit=founded_year`)
    const editing = page.getByRole('complementary', { name: /^Edit/ })
    await editing.getByLabel('Heading').fill('Founded in')
    await editContract(viewer, 'name: founded_year', 'name: since', { founded_year: 'since' })
    await status.getByText(/founded_year was renamed or removed meanwhile/).waitFor()
    assert.equal(await editing.getByLabel('Heading').inputValue(), 'Founded in')
    await editContract(viewer, 'name: since', 'name: founded_year', { since: 'founded_year' })
    await status.getByText('No value changes.').waitFor()
  })

  await t.test('the drawer fits a narrow page', async () => {
    await page.setViewportSize({ width: 400, height: 800 })
    // Without the question about the changes of the drawer.
    await page.goto(viewer.url)
    await settled(page)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Add a column…' }).click()
    await adding.getByLabel('Name').fill('Population')
    await status.getByText('There is a field "population" already. Choose another name.').waitFor()
    await picture(page, 'column-add-400')
    assert.deepEqual(await axeFaults(page, { include: '.column-drawer' }), [])
    const box = await adding.boundingBox()
    assert.ok(box !== null && box.x === 0 && box.width === 400)
  })

  await t.test('what was typed is lost only when the person agrees', async () => {
    const name = adding.getByLabel('Name')
    const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
    await page.setViewportSize({ width: 1280, height: 800 })
    await name.focus()
    await page.keyboard.press('Escape')
    await dialog.waitFor()
    await picture(page, 'column-discard')
    assert.deepEqual(await axeFaults(page, { include: '[role=dialog]' }), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await eventually(async () => assert.ok(await name.evaluate((element) => element.matches(':focus'))))
    assert.equal(await name.inputValue(), 'Population')
    await page.getByRole('link', { name: 'Contract' }).click()
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    await (await openMenu(page, 'Mine')).getByRole('menuitem', { name: 'Edit field…' }).click()
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    assert.equal(await name.inputValue(), 'Population')
    await adding.getByRole('button', { name: 'Cancel' }).click()
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await adding.waitFor({ state: 'detached' })
    await page.locator('.grid-input :focus').waitFor()
    await page.getByRole('link', { name: 'Contract' }).click()
    await page
      .getByRole('heading', { name: 'Fields' })
      .or(page.getByRole('tab', { name: 'Fields' }))
      .waitFor()
  })

  await t.test('the Back button of the browser asks before it leaves the page', async () => {
    const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
    await page.getByRole('link', { name: 'Records' }).click()
    await page.getByRole('button', { name: 'Add a column' }).click()
    await adding.getByLabel('Name').fill('Mayor')
    await page.evaluate('history.back()')
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    assert.equal(await adding.getByLabel('Name').inputValue(), 'Mayor')
    assert.equal(new URL(page.url()).pathname, '/')
    await page.evaluate('history.back()')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await page.waitForURL(/\/contract/)
  })

  viewer.assertCalm()
})

test('a computed field is edited with its computation in one drawer', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const file = join(viewer.sheet.path, 'derivations', 'names.yaml')
  const initial = await readFile(file, 'utf8')
  await viewer.post('/api/materialize', { actor: 'human:me', targets: ['name_de'], record_ids: ['AD', 'AE'] })
  await viewer.post('/api/records', { actor: 'human:me', records: [{ id: 'BV', name_de: 'Bouvet' }] })
  const page = await viewer.open('/?cell=AD~name_de&panel=1')
  const drawer = page.getByRole('complementary', { name: 'Edit Name in German' })
  const status = drawer.locator('.column-plan')
  const target = drawer.getByRole('textbox', { name: 'Name in German' })
  const save = drawer.getByRole('button', { name: 'Save', exact: true })

  await t.test('from the provenance of a cell, with the keyboard alone', async () => {
    await page.getByRole('button', { name: 'Edit field…' }).focus()
    await page.keyboard.press('Enter')
    await drawer.getByText('names.yaml', { exact: true }).waitFor()
    await drawer.getByText(/also fills Name in French, Name in Japanese/).waitFor()
    await eventually(async () =>
      assert.ok(
        await drawer.getByLabel('Name', { exact: true }).evaluate((element) => element.matches(':focus')),
      ),
    )
    assert.equal(await target.inputValue(), 'names.de')
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
  })

  await t.test('from the graph: the field of a node, and those of a derivation', async () => {
    await visit(page, '/derivations')
    await page.locator('a.graph-node').filter({ hasText: 'currency' }).first().click()
    await page.getByRole('complementary', { name: 'Edit Currency' }).waitFor()
    await visit(page, '/derivations?file=names.yaml')
    await page.getByRole('link', { name: 'Edit field name_de' }).click()
    await target.waitFor()
    assert.equal(new URL(page.url()).search, '')
  })

  await t.test('an error is at its line, and the file stays', async () => {
    await drawer.getByRole('tab', { name: 'YAML' }).click()
    const editor = drawer.getByRole('textbox', { name: 'Text of names.yaml' })
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(initial.replace('kind: http\n', 'kind: http\ntimeouts: 3\n'))
    await drawer.locator('.fault-message').getByText('unknown key "timeouts"').waitFor()
    assert.equal(await save.isDisabled(), true)
    await assertAccessible(page, 'computed-fault', { include: '.column-drawer' })
    await drawer.getByRole('button', { name: 'Discard changes' }).click()
    await drawer.getByRole('tab', { name: 'Form' }).click()
    assert.equal(await readFile(file, 'utf8'), initial)
  })

  await t.test('field and computation have one effect, which is shown, and are saved together', async () => {
    await target.fill('names.fr')
    await drawer.getByLabel('Heading').fill('German name')
    await status.getByText('2 cells become stale.').waitFor()
    await status.getByText('1 manual value is kept.').waitFor()
    await eventually(async () => assert.equal(await save.isEnabled(), true))
    await assertAccessible(page, 'computed-edit', { include: '.column-drawer' })
    for (const width of [400, 800, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await picture(page, `computed-edit-${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await save.click()
    await page.getByText('Changed German name').waitFor()
    await drawer.waitFor({ state: 'detached' })
    assert.equal(await readFile(file, 'utf8'), initial.replace('names.de', 'names.fr'))
    assert.match(
      await readFile(join(viewer.sheet.path, 'contract.yaml'), 'utf8'),
      /businessName: German name/,
    )
  })

  const edited = page.getByRole('complementary', { name: 'Edit German name' })
  const path = edited.getByRole('textbox', { name: 'German name' })
  const reopen = async (): Promise<void> => {
    // Loaded anew: until the page has read the contract that was changed before, it does not know the field.
    await page.goto(`${viewer.url}/?edit=name_de`)
    await path.waitFor()
  }
  const states = async (): Promise<readonly unknown[]> => {
    const { name_de: counts } =
      await viewer.get<Record<string, { stale: number; fresh: number }>>('/api/status')
    return [counts?.stale, counts?.fresh]
  }

  await t.test('values that still hold stay fresh', async () => {
    await viewer.post('/api/materialize', { actor: 'human:me', targets: ['name_de'], only: 'stale' })
    await reopen()
    await path.fill('names.de')
    await edited.getByRole('button', { name: 'Save, values still hold' }).click()
    await page.getByText('Saved names.yaml. Its values count as fresh.').waitFor()
    await eventually(async () => assert.deepEqual(await states(), [0, 2]))
  })

  await t.test('an earlier version is restored in the drawer, once its effect was seen', async () => {
    await reopen()
    await edited.getByText('Versions', { exact: true }).click()
    await edited.locator('.file-versions summary').first().click()
    await edited.getByRole('button', { name: 'Restore the text from before…' }).click()
    await eventually(async () => assert.equal(await path.inputValue(), 'names.fr'))
    await edited.getByText('2 cells become stale.').waitFor()
    await assertAccessible(page, 'computed-versions', { include: '.column-drawer' })
    await edited.getByRole('button', { name: 'Discard changes' }).click()
    await eventually(async () => assert.equal(await path.inputValue(), 'names.de'))
    await page.keyboard.press('Escape')
  })

  await t.test(
    'a draft of the computation is kept, and of two edits of the file the person chooses',
    async () => {
      await reopen()
      await path.fill('names.ja')
      await edited.getByText('2 cells become stale.').waitFor()
      await page.keyboard.press('Escape')
      await edited.waitFor({ state: 'detached' })
      const theirs = initial.replace('# One call', '# A call')
      await writeFile(file, theirs)
      await applyEdits(viewer.sheet.path)
      await page.goto(`${viewer.url}/?edit=name_de`)
      const conflict = edited.getByRole('region', { name: 'Changed meanwhile' })
      await conflict.getByLabel('Their changes').getByText('# A call').waitFor()
      await conflict.getByLabel('Your changes').getByText('name_de: names.ja').waitFor()
      await assertAccessible(page, 'computed-outdated', { include: '.column-drawer' })
      await conflict.getByRole('button', { name: 'Use their text' }).click()
      assert.equal(await path.inputValue(), 'names.de')
    },
  )

  await t.test('a new name and another computation are saved together', async () => {
    await reopen()
    await path.fill('names.ja')
    await edited.getByLabel('Name', { exact: true }).fill('german')
    await shows(edited.locator('.column-plan'), /^name_de becomes german\. .* 1 manual value is kept\.$/)
    await edited.getByText('Programs and queries that read name_de must change too.').waitFor()
    await assertAccessible(page, 'computed-rename', { include: '.column-drawer' })
    const theirs = await readFile(file, 'utf8')
    await edited.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Renamed name_de to german').waitFor()
    await edited.waitFor({ state: 'detached' })
    assert.equal(
      await readFile(file, 'utf8'),
      theirs.replace('names.de', 'names.ja').replaceAll('name_de', 'german'),
    )
    const renamed = page.locator('.toast').filter({ hasText: 'Renamed name_de' })
    await renamed.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The change was taken back').waitFor()
    assert.match(await readFile(file, 'utf8'), /name_de: names\.de/)
  })

  await t.test('a change is saved and computed', async () => {
    await reopen()
    await path.fill('names.ja')
    await edited.getByRole('button', { name: 'Save and recompute…' }).click()
    await page.getByRole('dialog', { name: /names\.yaml/ }).waitFor()
    await edited.waitFor({ state: 'detached' })
  })

  viewer.assertCalm()
})

test(
  'without the permission to change the definition, the grid offers no change of a field',
  { skip: NO_BROWSER },
  async (t) => {
    const viewer = await towns(t, { fixedDefinition: true })
    const page = await viewer.open()
    assert.equal(await page.getByRole('button', { name: 'Add a column' }).count(), 0)
    const menu = await openMenu(page, 'people')
    await menu.getByRole('menuitem', { name: 'Sort ascending' }).waitFor()
    assert.equal(await menu.getByRole('menuitem', { name: /^(Edit|Insert)/ }).count(), 0)
    await visit(page, '/contract?tab=changes')
    assert.equal(await page.getByRole('button', { name: 'Undo…' }).count(), 0)
  },
)
