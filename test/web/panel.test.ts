import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { applyEdits } from '../support/engine.ts'
import { cellAt, eventually, picture, shows, Viewer, visit } from '../support/viewer.ts'

test('the panel of a cell', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const run = (order: object): Promise<unknown> =>
    viewer.post('/api/materialize', { actor: 'human:me', record_ids: ['AD'], ...order })
  await run({ targets: ['currency_name', 'name_de'] })
  const page = await viewer.open('/?cell=AD~currency_name&panel=1')
  const panel = page.getByRole('complementary', { name: 'Provenance' })
  const dialog = page.getByRole('dialog')
  const name = await cellAt(page, 0, 'Currency name')

  await t.test('a fresh cell that failed in a forced run can be retried', async () => {
    viewer.gate.refuse(/^\/currencies\//)
    await run({ targets: ['currency_name'], force: true })
    await panel.getByRole('heading', { name: 'Why it failed' }).waitFor()
    await shows(name, 'Euro')
    viewer.gate.refuse(null)
    const before = viewer.sheet.api.requests
    await panel.getByRole('button', { name: 'Retry' }).click()
    // It costs something: the plan comes first, of just this call.
    assert.equal(await dialog.getByRole('combobox', { name: 'Cells' }).inputValue(), 'failed')
    assert.equal(await dialog.getByRole('checkbox').isChecked(), false)
    await dialog.getByRole('button', { name: /^Run 1 call/ }).click()
    await name.getByRole('img', { name: 'fresh' }).waitFor()
    await panel.getByRole('heading', { name: 'Why it failed' }).waitFor({ state: 'detached' })
    assert.equal(viewer.sheet.api.requests - before, 1)
  })

  await t.test('an edited derivation file is shown line by line', async () => {
    const file = join(viewer.sheet.path, 'derivations', 'names.yaml')
    const text = await readFile(file, 'utf8')
    await visit(page, '/?cell=AD~name_de&panel=1')
    await writeFile(file, text.replace('languages=de,fr,ja', 'languages=de,fr,ja,it'))
    await applyEdits(viewer.sheet.path)
    const why = panel.getByRole('region', { name: 'Why it is stale' })
    const diff = why.getByLabel('Changes').first()
    await shows(diff.locator('del'), /languages=de,fr,ja$/)
    await shows(diff.locator('ins'), /languages=de,fr,ja,it$/)
    await why.getByText(/From [0-9a-f]{12}… to [0-9a-f]{12}…/).waitFor()
    await picture(page, 'panel-derivation-light')
    await writeFile(file, text)
    await applyEdits(viewer.sheet.path)
    await why.getByText('The changes were undone.').waitFor()
  })

  await t.test('a revert shows the next state of the cell before, and has it', async () => {
    await run({ targets: ['name_de'], force: true })
    await viewer.post('/api/records', {
      records: [{ id: 'AD', name_de: 'Andorrra' }],
      actor: 'human:ann',
    })
    const mark = await cellAt(page, 0, 'Name in German')
    await mark.getByRole('img', { name: 'overridden' }).waitFor()
    await panel.getByRole('button', { name: 'Restore this value' }).first().click()
    await panel.getByText(/^Reverts the latest change\. The cell becomes stale, unless/).waitFor()
    await panel.getByRole('button', { name: 'Revert change' }).click()
    await mark.getByRole('img', { name: 'stale' }).waitFor()
    await panel.getByRole('button', { name: 'Restore this value' }).first().click()
    await panel.getByText(/^Reverts the latest change\. The cell becomes overridden/).waitFor()
    await panel.getByRole('button', { name: 'Revert change' }).click()
    await mark.getByRole('img', { name: 'overridden' }).waitFor()
    await eventually(async () => assert.equal(await viewer.value('AD', 'name_de'), 'Andorrra'))
  })

  await t.test('a cell without an earlier value becomes missing again', async () => {
    await run({ targets: ['time_zones'] })
    await visit(page, '/?cell=AD~time_zones&panel=1')
    await panel.getByRole('button', { name: 'Revert this change' }).click()
    await panel.getByText(/^Reverts the latest change\. The cell becomes missing/).waitFor()
    await panel.getByRole('button', { name: 'Revert change' }).click()
    await (await cellAt(page, 0, 'Time zones')).getByRole('img', { name: 'missing' }).waitFor()
  })

  await t.test(
    'a cell with an empty input is not applicable, and its column complete without it',
    async () => {
      await visit(page, '/?cell=AQ~currency_name&panel=1')
      await panel.getByText(/^Not applicable: .* is empty\.$/).waitFor()
      assert.equal(await panel.getByRole('button', { name: 'Compute cell' }).count(), 0)
      await run({ targets: ['currency_name'], record_ids: null })
      await page.locator('.column-states').getByText('Complete').first().waitFor()
      await picture(page, 'column-complete-light')
    },
  )

  await t.test('no page reported an error', () => viewer.assertCalm())
})
