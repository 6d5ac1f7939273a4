import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { contractText } from '../support/contract-with.ts'
import { assertAccessible, beginCapital } from '../support/panels.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { eventually, picture, SheetViewer, shows, Viewer, visit } from '../support/viewer.ts'

test(
  'a derivation is written with a form, tried on one row, and seen on rows before it is saved',
  { skip: NO_BROWSER },
  async (t) => {
    const viewer = await Viewer.start(t)
    const page = await viewer.open('/derivations')
    const dialog = await beginCapital(page)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    const panel = page.getByRole('region', { name: 'Edit capital.yaml' })

    await t.test('a slash offers the fields', async () => {
      const url = panel.getByRole('textbox', { name: 'URL' })
      await url.click()
      await page.keyboard.press('Control+a')
      await page.keyboard.type(`http://127.0.0.1:${viewer.sheet.api.port}/countries/i`)
      await page.getByRole('option', { name: /^id/ }).waitFor()
      // A list that has just opened ignores Enter for a moment, so that nothing is taken unseen.
      await eventually(async () => {
        await page.keyboard.press('Enter')
        assert.equal(await panel.locator('.field-chip').getByText('Code', { exact: true }).count(), 1)
      })
      await page.keyboard.type('/names?languages=de,fr')
    })

    await t.test('a click on a value of the response fills the field', async () => {
      await panel.getByRole('button', { name: 'Try one row' }).click()
      await panel.getByRole('button', { name: /^fr / }).click()
      assert.equal(
        await panel.getByRole('textbox', { name: 'Capital', exact: true }).inputValue(),
        'names.fr',
      )
      // The effect of the edited text is known.
      await checked(panel)
      await assertAccessible(page, 'forms-http', { include: '.derivation-panel' })
    })

    await t.test('a preview shows what comes out of some rows, and writes no cell', async () => {
      await panel.getByRole('combobox', { name: 'Rows of the preview' }).selectOption('First rows')
      await panel.getByRole('button', { name: 'Preview', exact: true }).click()
      await panel.getByText('5 of 5 valid').waitFor()
      const row = panel.locator('.preview-rows li').first()
      await row.locator('summary').click()
      await row.getByText(/GET http.*names\?languages=de,fr/).waitFor()
      await assertAccessible(page, 'forms-preview', { include: '.derivation-panel' })
      for (const width of [400, 900, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await picture(page, `forms-${width}`)
      }
      await page.setViewportSize({ width: 1280, height: 800 })
    })

    await t.test('the text has what the form wrote', async () => {
      await panel.getByRole('tab', { name: 'YAML' }).click()
      await panel.getByText('response_path: names.fr').waitFor()
      await panel.getByRole('tab', { name: 'Form' }).click()
      await panel.getByRole('button', { name: 'Run 100…' }).click()
      const plan = page.getByRole('dialog', { name: 'capital.yaml: compute' })
      await plan.getByRole('button', { name: /^Run \d+ calls/ }).waitFor()
      assert.equal(await plan.getByLabel(/records/i).inputValue(), '100')
      await plan.getByRole('button', { name: 'Cancel' }).click()
      assert.equal(
        await readFile(join(viewer.sheet.path, 'derivations', 'capital.yaml'), 'utf8'),
        `targets: [capital]\nkind: http\nurl: http://127.0.0.1:${viewer.sheet.api.port}/countries/{{ id }}/names?languages=de,fr\nresponse_path: names.fr\n`,
      )
    })

    await t.test('no page reported an error', () => viewer.assertCalm())
  },
)

test(
  'a form edits an existing file in place, and compares its rows with the present values',
  { skip: NO_BROWSER },
  async (t) => {
    const viewer = await Viewer.start(t)
    const file = join(viewer.sheet.path, 'derivations', 'names.yaml')
    const initial = await readFile(file, 'utf8')
    await viewer.post('/api/materialize', {
      actor: 'human:me',
      targets: ['name_de'],
      record_ids: ['AD', 'AE'],
    })
    const page = await viewer.open('/derivations?file=names.yaml&edit=1')
    const panel = page.getByRole('region', { name: 'Edit names.yaml' })
    await panel.getByRole('textbox', { name: 'Name in German' }).fill('names.fr')
    await panel.getByRole('status').getByText('2 cells become stale.').waitFor()
    await panel.getByRole('button', { name: 'Preview', exact: true }).click()
    await panel.getByText(/2 changed|5 changed/).waitFor()
    await picture(page, 'forms-changed')
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved names.yaml').waitFor()
    await eventually(async () =>
      assert.equal(await readFile(file, 'utf8'), initial.replace('names.de', 'names.fr')),
    )
    viewer.assertCalm()
  },
)

/** Waits until the effect of the edited text is known: until then the buttons of the editor can change. */
async function checked(panel: Locator): Promise<void> {
  await panel.locator('.editor-status [aria-busy="false"]').waitFor()
}

const NOTES = {
  contract: contractText(
    ['town', 'note', 'code', 'summary'].map((name) => `{name: ${name}, logicalType: string}`),
  ),
  records: ['Ulm', 'Passau', 'Arnis'].map((town, index) => ({ id: String(index + 1), town })),
  derivations: {
    'note.yaml': "targets: [note]\nkind: sql\nexpression: town || ' is a large town'\n",
    // Every test has a PATH.
    'code.yaml':
      "targets: [code]\nkind: http\nurl: http://127.0.0.1:9/{{ town }}\nheaders:\n  X-Key: '{{ env.PATH }}'\n  X-Other: '{{ env.COLOPHON_NONE }}'\nresponse_path: code\n",
    'summary.yaml': 'targets: [summary]\nkind: ai\nmodel: small\nprompt: About {{ town }}\n',
  },
}

test('a formula is computed on rows while one types', { skip: NO_BROWSER }, async (t) => {
  const sheet = await writeSheet(t, NOTES)
  const model = { api: 'openai', url: 'http://127.0.0.1:9', model: 'local' }
  await writeFile(join(sheet, 'models.yaml'), JSON.stringify({ models: { small: model, large: model } }))
  const viewer = await SheetViewer.on(t, sheet)
  await viewer.post('/api/materialize', { actor: 'human:me', targets: ['note'], record_ids: ['1', '2'] })
  const page = await viewer.open('/derivations?file=note.yaml&edit=1')
  const panel = page.getByRole('region', { name: 'Edit note.yaml' })
  const preview = panel.getByRole('region', { name: 'Preview' })
  const formula = panel.getByRole('textbox', { name: 'Formula' })
  const type = async (text: string): Promise<void> => {
    await formula.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(text)
  }

  await t.test('nothing is computed before the formula changes', async () => {
    await formula.waitFor()
    assert.equal(await preview.locator('.preview-rows').count(), 0)
  })

  await t.test('a change is shown word by word beside the present values', async () => {
    await type("town || ' is a small town'")
    await preview.getByText('3 of 3 valid').waitFor()
    await preview.getByText('3 changed, 0 same').waitFor()
    assert.equal(await preview.locator('ins').first().innerText(), 'small')
    await checked(panel)
    await assertAccessible(page, 'forms-formula', { include: '.derivation-panel' })
  })

  await t.test('with an error the last values stay, as those of an earlier text', async () => {
    await type("town || ' is a tiny town' ||")
    await preview.locator('.form-error').waitFor()
    assert.equal(await preview.locator('.old ins').first().innerText(), 'small')
    await panel.locator('.editor-problem').waitFor()
    await assertAccessible(page, 'forms-formula-error', { include: '.derivation-panel' })
  })

  await t.test('values of an earlier text never replace those of a later one', async () => {
    const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(
      '**/api/derivations/preview',
      async (route) => {
        arrived.resolve()
        await held.promise
        // The page has ended the request.
        await route.continue().catch(() => undefined)
      },
      { times: 1 },
    )
    await type("town || ' is a late town'")
    await arrived.promise
    await type("town || ' is a new town'")
    await preview.locator('ins').getByText('new').first().waitFor()
    held.resolve()
    await page.unrouteAll({ behavior: 'wait' })
    assert.equal(await preview.locator('ins').first().innerText(), 'new')
  })

  await t.test('headers say whether the server has their secrets, and offer these', async () => {
    await visit(page, '/derivations?file=code.yaml&edit=1')
    const http = page.getByRole('region', { name: 'Edit code.yaml' })
    await http.getByText('PATH is set on the server.').waitFor()
    await http.getByText(/^COLOPHON_NONE is not set on the server/).waitFor()
    await http.getByRole('textbox', { name: 'X-Other' }).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('/env')
    await page.getByRole('option', { name: /^env\.PATH.*set on the server/ }).click()
    await http.getByText(/^COLOPHON_NONE/).waitFor({ state: 'detached' })
    await http.getByLabel('Name of a further header').fill('X-More')
    await page.keyboard.press('Enter')
    const more = http.getByRole('textbox', { name: 'X-More' })
    await more.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('later')
    await shows(more, 'later')
    await checked(http)
    await assertAccessible(page, 'forms-secrets', { include: '.derivation-panel' })
  })

  await t.test('a model is chosen among those of models.yaml, by keyboard', async () => {
    await visit(page, '/derivations?file=summary.yaml&edit=1')
    const ai = page.getByRole('region', { name: 'Edit summary.yaml' })
    const choice = ai.getByRole('combobox', { name: 'Model' })
    await choice.waitFor()
    assert.deepEqual(await choice.locator('option').allInnerTexts(), ['small', 'large'])
    await choice.focus()
    await page.keyboard.press('ArrowDown')
    await eventually(async () => assert.equal(await choice.inputValue(), 'large'))
    await ai.getByRole('tab', { name: 'YAML' }).focus()
    await page.keyboard.press('Enter')
    await ai.getByText('model: large').waitFor()
    // The key that opened the editor is not typed into it.
    await ai.locator('.cm-content:focus').waitFor()
    assert.match(await ai.locator('.cm-content').innerText(), /^targets/)
    await checked(ai)
    await assertAccessible(page, 'forms-model', { include: '.derivation-panel' })
    await ai.getByRole('tab', { name: 'Form' }).click()
  })

  await t.test('a new column is tried on the ticked rows', async () => {
    await visit(page, '/')
    await page.getByRole('checkbox', { name: /2/ }).first().check()
    await page.getByRole('button', { name: 'Add a column' }).click()
    const drawer = page.getByRole('complementary')
    await drawer.getByLabel('Name').fill('Loud')
    await drawer.getByRole('radio', { name: /^Formula/ }).check()
    await drawer.getByRole('button', { name: 'Continue' }).click()
    await drawer.getByRole('textbox', { name: 'Formula' }).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('upper(town)')
    await drawer.getByText('1 of 1 valid').waitFor()
    await drawer.locator('.preview-rows').getByText('PASSAU', { exact: true }).waitFor()
    await drawer.getByRole('combobox', { name: 'Rows of the preview' }).selectOption('Varied rows')
    await drawer.getByText('3 of 3 valid').waitFor()
    for (const width of [800, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await picture(page, `forms-ticked-${width}`)
    }
  })

  await t.test(
    'a formula is computed on the rows in sight, and on others once one scrolls there',
    async () => {
      const long = await SheetViewer.on(
        t,
        await writeSheet(t, {
          contract: NOTES.contract,
          derivations: {},
          records: Array.from({ length: 400 }, (_, index) => ({ id: `r${index}`, town: `Town ${index}` })),
        }),
      )
      const wide = await long.open()
      await wide.getByRole('button', { name: 'Add a column' }).click()
      const drawer = wide.getByRole('complementary')
      await drawer.getByLabel('Name').fill('Loud')
      await drawer.getByRole('radio', { name: /^Formula/ }).check()
      await drawer.getByRole('button', { name: 'Continue' }).click()
      await drawer.getByRole('textbox', { name: 'Formula' }).click()
      await wide.keyboard.press('Control+a')
      await wide.keyboard.insertText('upper(town)')
      const loud = (row: number): Locator => wide.locator(`.grid-row[data-row="${row}"] .grid-cell.ghost`)
      await shows(loud(15), 'TOWN 15')
      assert.equal(await drawer.getByLabel('Rows of the preview').inputValue(), 'sight')
      await wide.getByRole('grid').focus()
      await wide.keyboard.press('Control+End')
      await shows(loud(399), 'TOWN 399')
      await picture(wide, 'forms-in-sight')
      long.assertCalm()
    },
  )

  await t.test('a run of all is questioned if too few rows are valid', async () => {
    // Without the question about the changes of the drawer.
    await page.goto(viewer.url)
    await page.getByRole('button', { name: 'Add a column' }).click()
    const drawer = page.getByRole('complementary')
    await drawer.getByLabel('Name').fill('Count')
    await drawer.getByRole('radio', { name: /^Formula/ }).check()
    await drawer.getByRole('button', { name: 'Continue' }).click()
    await drawer.getByRole('textbox', { name: 'Formula' }).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('town')
    await drawer.getByText('0 of 3 valid').waitFor()
    await drawer.getByRole('button', { name: 'Run all…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compute Count' })
    await dialog.getByText(/^Only 0 of 3 rows of the preview were valid/).waitFor()
    const start = dialog.getByRole('button', { name: 'Run', exact: true })
    await eventually(async () => assert.equal(await start.isEnabled(), true))
    await assertAccessible(page, 'forms-doubt', { include: '[role=dialog]' })
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})

const OTHER_KINDS = {
  contract: contractText(
    ['town', 'code', 'country', 'note', 'label'].map((name) => `{name: ${name}, logicalType: string}`),
  ),
  records: [
    { id: '1', town: 'Ulm', code: 'DE' },
    { id: '2', town: 'Linz', code: 'AT' },
  ],
  derivations: {
    'country.yaml':
      '# From a table\ntargets: [country]\nkind: import\nsource: refs/countries.csv\nkey_field: code\nmatch: code\nvalue_field: name # in English\n',
    'note.yaml':
      'targets: [note]\nkind: script\nscript: describe\ninputs: [town] # the name\nenv: [DESCRIBE_KEY]\n',
    'label.yaml':
      "targets: [label]\nkind: first\nsteps:\n  - kind: sql\n    expression: nullif(country, '')\n  - kind: sql # the last resort\n    expression: town\n",
  },
}

test(
  'forms of look-ups, scripts and fallbacks edit their files in place',
  { skip: NO_BROWSER },
  async (t) => {
    const sheet = await writeSheet(t, OTHER_KINDS)
    await mkdir(join(sheet, 'refs'))
    await writeFile(
      join(sheet, 'refs', 'countries.csv'),
      'code,name,name_de\nDE,Germany,Deutschland\nAT,Austria,Österreich\n',
    )
    await mkdir(join(sheet, 'scripts'))
    await writeFile(join(sheet, 'scripts', 'describe.mjs'), "process.stdout.write('a town')\n")
    const viewer = await SheetViewer.on(t, sheet, { scripts: 'confined' })
    const page = await viewer.open()
    const open = async (file: string): Promise<Locator> => {
      await visit(page, `/derivations?file=${file}&edit=1`)
      return page.getByRole('region', { name: `Edit ${file}` })
    }
    /** Saves, and expects the file to be as it was but for these replacements. */
    const saves = async (
      panel: Locator,
      file: keyof typeof OTHER_KINDS.derivations,
      ...edits: [string, string][]
    ) => {
      await checked(panel)
      await assertAccessible(page, `forms-${file}`, { include: '.derivation-panel' })
      await panel.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText(`Saved ${file}`).waitFor()
      const expected = edits.reduce(
        (text, [from, to]) => text.replace(from, to),
        OTHER_KINDS.derivations[file],
      )
      assert.equal(await readFile(join(sheet, 'derivations', file), 'utf8'), expected)
    }

    await t.test('a look-up takes another column of its table', async () => {
      const panel = await open('country.yaml')
      await panel.getByRole('textbox', { name: 'country' }).fill('name_de')
      await panel.getByRole('button', { name: 'Preview', exact: true }).click()
      await panel.locator('.preview-rows').getByText('Österreich', { exact: true }).waitFor()
      await panel.getByText('More').click()
      await panel.getByLabel('Where no row has the key').selectOption('null')
      await saves(
        panel,
        'country.yaml',
        ['value_field: name #', 'value_field: name_de #'],
        ['in English\n', "in English\nwhen_missing: 'null'\n"],
      )
    })

    await t.test('a script gets another input, and what the form cannot show stays', async () => {
      const panel = await open('note.yaml')
      await panel.getByText('Only in the YAML, and kept as it is:').waitFor()
      await panel.getByLabel('Add a field to Inputs').selectOption('code')
      await saves(panel, 'note.yaml', ['[town]', '[town, code]'])
    })

    await t.test('a step of a fallback gets a condition, and its values are tried', async () => {
      const panel = await open('label.yaml')
      const step = panel.getByRole('group', { name: /^Step 1/ })
      await step.getByRole('textbox', { name: 'Accept if' }).click()
      await page.keyboard.insertText('length(label) > 3')
      await panel.getByRole('button', { name: 'Preview', exact: true }).click()
      await panel.getByText('2 of 2 valid').waitFor()
      await saves(panel, 'label.yaml', [
        "nullif(country, '')\n",
        "nullif(country, '')\n    accept: length(label) > 3\n",
      ])
    })

    await t.test('a column can be computed by a script, since the server runs scripts', async () => {
      await visit(page, '/')
      await page.getByRole('button', { name: 'Add a column' }).click()
      await page
        .getByRole('complementary')
        .getByRole('radio', { name: /^Script/ })
        .waitFor()
    })

    viewer.assertCalm()
  },
)
