import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { exampleSheet } from '../support/example.ts'
import { applyEdits } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { assertAccessible, beginCapital } from '../support/panels.ts'
import { eventually, picture, settled, SheetViewer, shows, Viewer, visit } from '../support/viewer.ts'

/** Replaces the text of the editor that has the focus, as pasting does. */
async function replaceAll(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

test('a derivation is edited in the browser', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const file = join(viewer.sheet.path, 'derivations', 'names.yaml')
  const fileText = (): Promise<string> => readFile(file, 'utf8')
  const initial = await fileText()
  const edited = initial.replace('languages=de,fr,ja', 'languages=de,fr,ja,it')
  await viewer.post('/api/materialize', { actor: 'human:me', targets: ['name_de'], record_ids: ['AD', 'AE'] })
  await viewer.post('/api/records', { actor: 'human:me', records: [{ id: 'BV', name_de: 'Bouvet' }] })
  const page = await viewer.open('/derivations?file=names.yaml')
  const panel = page.getByRole('region', { name: 'Edit names.yaml' })
  const editor = panel.getByRole('textbox', { name: 'Text of names.yaml' })
  const status = panel.getByRole('status')
  const save = panel.getByRole('button', { name: 'Save', exact: true })
  const edit = page.getByRole('button', { name: 'Edit', exact: true })

  await t.test('an error is shown at its line while one types, and the file stays', async () => {
    await edit.click()
    await panel.getByRole('tab', { name: 'YAML' }).click()
    await editor.focus()
    await replaceAll(page, initial.replace('kind: http\n', 'kind: http\ntimeouts: 3\n'))
    await status.getByRole('button', { name: 'Line 5' }).waitFor()
    await panel.locator('.fault-message').getByText('unknown key "timeouts"').waitFor()
    assert.equal(await save.isDisabled(), true)
    await assertAccessible(page, 'definition-error', { include: '.derivation-panel' })
    await editor.focus()
    await page.keyboard.press('Control+z')
    await status.getByText(/^No changes/).waitFor()
  })

  await t.test('the effect on cells is shown before the change is saved', async () => {
    await replaceAll(page, edited)
    await status.getByText('2 cells become stale.').waitFor()
    await status.getByText('1 manual value is kept.').waitFor()
    assert.equal(await fileText(), initial)
    await assertAccessible(page, 'definition-effect', { include: '.derivation-panel' })
    await page.setViewportSize({ width: 900, height: 800 })
    await picture(page, 'definition-900')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  await t.test('the effect of an earlier text stays readable while the present one is checked', async () => {
    const held = Promise.withResolvers<void>()
    await page.route('**/api/derivations/names.yaml?*', async (route) => {
      await held.promise
      await route.continue()
    })
    await replaceAll(page, `${edited}# again\n`)
    await status.locator('.old').waitFor()
    assert.deepEqual(await axeFaults(page, { include: '.editor-status', rules: ['color-contrast'] }), [])
    held.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    await replaceAll(page, edited)
    await status.getByText('2 cells become stale.').waitFor()
  })

  await t.test(
    'a text that is not saved outlasts a reload, and can be discarded and brought back',
    async () => {
      await page.goto(`${viewer.url}/derivations?file=names.yaml`)
      await settled(page)
      await page.getByText('You have changes that are not saved.').waitFor()
      await page.getByRole('button', { name: 'Continue editing' }).click()
      await editor.getByText('languages=de,fr,ja,it').waitFor()
      await panel.getByRole('button', { name: 'Discard changes' }).click()
      await status.getByText(/^No changes/).waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await status.getByText('2 cells become stale.').waitFor()
    },
  )

  await t.test('of two changes of a file the person chooses', async () => {
    await writeFile(file, initial.replace('# One call', '# A call'))
    await applyEdits(viewer.sheet.path)
    // The cells are stale from then on, whichever request the store follows the file with.
    await viewer.get('/api/status')
    const conflict = panel.getByRole('region', { name: 'Changed meanwhile' })
    await conflict.getByText('names.yaml was changed while you edited it.').waitFor()
    await conflict.getByLabel('Their changes').getByText('# A call').waitFor()
    await conflict.getByLabel('Your changes').getByText('languages=de,fr,ja,it').waitFor()
    assert.equal(await save.isDisabled(), true)
    await assertAccessible(page, 'definition-outdated', { include: '.derivation-panel' })
    await conflict.getByRole('button', { name: 'Keep my text' }).click()
    await shows(panel.locator('.editor-status'), '1 manual value is kept.')
  })

  await t.test('a saved change is the file, and the focus returns to the button', async () => {
    await eventually(async () => assert.equal(await save.isEnabled(), true))
    await editor.focus()
    await page.keyboard.press('Control+s')
    await page.getByText('Saved names.yaml').waitFor()
    assert.equal(await fileText(), edited)
    await eventually(async () => assert.ok(await edit.evaluate((element) => element.matches(':focus'))))
    const { name_de: states } = await viewer.get<Record<string, { stale: number }>>('/api/status')
    assert.equal(states?.stale, 2)
  })

  await t.test('values that still hold stay fresh', async () => {
    await viewer.post('/api/materialize', { actor: 'human:me', targets: ['name_de'], only: 'stale' })
    await page.keyboard.press('Enter')
    await editor.and(page.locator(':focus')).waitFor()
    await replaceAll(page, edited.replace('# One call', '# Still one call'))
    await panel.getByRole('button', { name: 'Save, values still hold' }).click()
    await page.getByText('Saved names.yaml. Its values count as fresh.').waitFor()
    await eventually(async () => {
      const { name_de: states } =
        await viewer.get<Record<string, { stale: number; fresh: number }>>('/api/status')
      assert.deepEqual([states?.stale, states?.fresh], [0, 2])
    })
  })

  await t.test('a derivation is removed once its effect is seen, and brought back', async () => {
    await page.getByRole('button', { name: 'Remove…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove names.yaml?' })
    await dialog
      .getByText('name_de, name_fr and name_ja become ordinary fields and keep their values.')
      .waitFor()
    await picture(page, 'definition-remove')
    assert.deepEqual(await axeFaults(page, { include: '[role=dialog]' }), [])
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Removed names.yaml').waitFor()
    await eventually(async () => assert.rejects(fileText()))
    await page.getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => assert.match(await fileText(), /^# Still one call/))
  })

  await t.test(
    'an earlier version is restored as a draft, whose effect is seen before it is saved',
    async () => {
      // What is read again after the removal and its undo would replace the panel, and close a version that is open.
      await page.goto(`${viewer.url}/derivations?file=names.yaml`)
      await settled(page)
      const versions = page.getByRole('region', { name: 'names.yaml' }).locator('.file-versions details')
      const change = versions.filter({ hasText: 'by human:me' }).last()
      await change.locator('summary').click()
      await change.locator('del').getByText('# A call').waitFor()
      await picture(page, 'definition-versions')
      assert.deepEqual(await axeFaults(page, { include: '.derivation-panel' }), [])
      await change.getByRole('button', { name: 'Restore the text from before…' }).click()
      await editor.getByText('# A call').waitFor()
      await save.click()
      await eventually(async () => assert.equal(await fileText(), initial.replace('# One call', '# A call')))
    },
  )

  await t.test('no page reported an error', () => viewer.assertCalm())
})

test('a derivation is begun from a template, kept and saved', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const page = await viewer.open('/derivations')
  const dialog = await beginCapital(page)
  await picture(page, 'definition-new')
  assert.deepEqual(await axeFaults(page, { include: '[role=dialog]' }), [])
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const panel = page.getByRole('region', { name: 'Edit capital.yaml' })
  await panel
    .getByRole('status')
    .getByText(/^capital becomes a derived field/)
    .waitFor()
  await visit(page, '/derivations')
  await page.getByRole('button', { name: 'Continue capital.yaml' }).click()
  await panel.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved capital.yaml').waitFor()
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
  const text = await readFile(join(viewer.sheet.path, 'derivations', 'capital.yaml'), 'utf8')
  assert.match(text, /^targets: \[capital\]\nkind: http\n/)
  viewer.assertCalm()
})

test(
  'without the permission to change the definition, the page says why',
  { skip: NO_BROWSER },
  async (t) => {
    const sheet = await exampleSheet()
    onEnd(t, () => sheet.cleanup())
    const viewer = await SheetViewer.on(t, sheet.path, { fixedDefinition: true })
    const page = await viewer.open('/derivations?file=names.yaml&edit=1')
    await page.getByText(/The server was started with --read-only-definition/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit', exact: true }).count(), 0)
  },
)
