import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { perEngine } from '../support/engine.ts'
import { openMenu } from '../support/panels.ts'
import { cellAt, eventually, picture, settled, shows, Viewer, visit } from '../support/viewer.ts'

const ALL_CELLS = 12 * 249

/** Hundreds of calls take a busy machine its time. */
const RUN_PATIENCE_MS = 180_000

/** Opens the plan of a run by an entry of the menu. */
async function plan(page: Page, entry: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Run…' }).click()
  await page.getByRole('menuitem', { name: entry }).click()
  await page.getByRole('dialog').getByRole('region', { name: 'Plan' }).waitFor()
}

test('runs', { skip: NO_BROWSER }, async (t) => {
  const viewer = await Viewer.start(t)
  const { gate } = viewer
  const page = await viewer.open('/?cell=AD~week_starts_on')
  const dialog = page.getByRole('dialog')
  const goesOn = page.getByRole('group', { name: /^Run \d+ is running$/ })
  const ended = page.getByRole('link', { name: /^Last run/ })

  await t.test('the plan shows calls and cost before any call', async () => {
    await plan(page, /^Compute this column: Week starts on/)
    await dialog.getByText('249 calls').first().waitFor()
    await dialog.getByRole('button', { name: /^Run 249 calls · \$0\.02/ }).waitFor()
    await picture(page, 'plan-light')
    assert.equal(viewer.sheet.api.requests, 0)
  })

  await t.test(
    'cells change live, with progress, and only those that are computed show as running',
    async () => {
      gate.close()
      await dialog.getByRole('button', { name: /^Run 249 calls/ }).click()
      await goesOn.waitFor()
      const cell = await cellAt(page, 0, 'Week starts on')
      // On PostgreSQL calls come in no particular order: those under way may be of records out of sight.
      if (perEngine({ sqlite: true, postgres: false }))
        await cell.getByRole('img', { name: 'running' }).waitFor()
      await (await cellAt(page, 0, 'UTC offsets')).getByRole('img', { name: 'missing' }).waitFor()
      await eventually(() => assert.ok(gate.waiting >= 4))
      const column = page.locator(`[aria-colindex="${await cell.getAttribute('aria-colindex')}"]`)
      await column.getByRole('img', { name: 'queued' }).first().waitFor()
      // The browser asks for reduced motion: no animation repeats.
      await eventually(async () =>
        assert.deepEqual(
          await page.evaluate('document.getAnimations().map(({ animationName: name }) => name)'),
          [],
        ),
      )
      assert.ok((await column.getByRole('img', { name: 'running' }).count()) <= gate.waiting)
      // On PostgreSQL the total is known when the first task begins.
      await eventually(async () =>
        assert.equal(await goesOn.getByRole('progressbar').getAttribute('aria-valuemax'), '249'),
      )
      await picture(page, 'running-light')
      gate.open(4)
      await eventually(async () => {
        const now = Number(await goesOn.getByRole('progressbar').getAttribute('aria-valuenow'))
        assert.ok(now > 0 && now < 249, `${now}`)
      })
      // The same holds for those let through.
      if (perEngine({ sqlite: false, postgres: true })) gate.open()
      await shows(cell, 'Monday')
      await cell.getByRole('img', { name: 'fresh' }).waitFor()
      gate.open()
      await ended.waitFor({ timeout: RUN_PATIENCE_MS })
      const summary = await viewer.get<Record<string, { fresh: number }>>('/api/status')
      assert.equal(summary['week_starts_on']?.fresh, 249)
    },
  )

  await t.test('if responses are kept, the dialog offers them with both costs', async () => {
    await plan(page, /^Compute this column: Week starts on/)
    await dialog.getByRole('checkbox', { name: /^Recompute fresh/ }).check()
    await dialog.getByRole('radio', { name: /^Call again: \$0\.02/ }).waitFor()
    await dialog.getByRole('radio', { name: 'Reuse 249 kept responses: $0' }).check()
    await dialog.getByRole('button', { name: 'Fill 249 cells from the cache' }).waitFor()
    await dialog.getByRole('radio', { name: /^Call again/ }).check()
    await dialog.getByRole('button', { name: /^Run 249 calls/ }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('a run is cancelled; stored values are kept', async () => {
    await plan(page, 'Compute missing, stale and failed cells')
    gate.close()
    await dialog.getByRole('button', { name: /^Run at most/ }).click()
    await eventually(() => assert.ok(gate.waiting >= 4))
    await goesOn.getByRole('button', { name: /^Cancel run/ }).click()
    await dialog.getByRole('button', { name: 'Cancel run' }).click()
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByText(/was cancelled/)
      .waitFor()
    gate.open()
    await goesOn.waitFor({ state: 'detached' })
  })

  // The tests of http and sheet have the contents of the other dialogs and pages on both engines.
  if (perEngine({ sqlite: false, postgres: true })) {
    viewer.assertCalm()
    return
  }

  await t.test('a selected record runs, and a cell without a result fails', async () => {
    gate.refuse(/^\/currencies\/EUR/)
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Shift+Space')
    await plan(page, 'Compute 1 selected record')
    await dialog.getByRole('button', { name: /^Run / }).click()
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByText(/Run 3 finished/)
      .waitFor()
    await visit(page, '/?cell=AD~currency_name')
    const cell = await cellAt(page, 0, 'Currency name')
    await cell.getByRole('img', { name: 'failed' }).waitFor()
    await picture(page, 'failed-light')
  })

  await t.test('with a filter on, its records are offered first', async () => {
    const where = JSON.stringify([{ field: 'id', is: 'equals', value: 'AF' }])
    const filtered = await viewer.open(`/?where=${encodeURIComponent(where)}&cell=AF~currency_name`)
    await filtered.getByRole('button', { name: 'Run…' }).click()
    await filtered.getByRole('menuitem', { name: 'Compute 1 filtered record' }).waitFor()
    assert.deepEqual((await filtered.getByRole('menuitem').allInnerTexts()).slice(0, 3), [
      'Compute 1 filtered record',
      'Compute missing, stale and failed cells of all records',
      'Retry failed cells of all records',
    ])
    await picture(filtered, 'run-filtered')
    await filtered.getByRole('menuitem', { name: 'Compute 1 filtered record' }).click()
    const asked = filtered.getByRole('dialog', { name: 'Compute 1 filtered record' })
    await asked.getByRole('button', { name: /^Run / }).waitFor()
    await picture(filtered, 'run-filtered-plan')
    await asked.getByRole('button', { name: 'Cancel' }).click()
    const menu = await openMenu(filtered, 'Currency name')
    await menu.getByRole('menuitem', { name: 'Compute this column…' }).click()
    await filtered.getByRole('dialog', { name: 'Compute Currency name' }).waitFor()
    await filtered.close()
  })

  await t.test('a failed cell shows the reason, and is retried', async () => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('Space')
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel.getByRole('heading', { name: 'Why it failed' }).waitFor()
    await panel.getByText(/418/).first().waitFor()
    gate.refuse(null)
    await panel.getByRole('button', { name: 'Retry' }).click()
    // It costs something: the plan comes first.
    await dialog.getByRole('button', { name: /^Run 1 call/ }).click()
    const cell = await cellAt(page, 0, 'Currency name')
    await shows(cell, 'Euro')
    await cell.getByRole('img', { name: 'fresh' }).waitFor()
    await panel
      .getByText(/Computed by/)
      .first()
      .waitFor()
  })

  await t.test('the panel shows the origin of a value', async () => {
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel.getByRole('link', { name: 'currency.yaml' }).first().waitFor()
    await panel.getByText(/\/currencies\/EUR$/).waitFor()
    await panel.getByText(/No, with a call/).waitFor()
    await panel
      .getByText(/sha256:|…$/)
      .first()
      .waitFor()
    await picture(page, 'panel-light')
  })

  await t.test('and restores an earlier value', async () => {
    await visit(page, '/?cell=AD~name_de')
    await (await cellAt(page, 0, 'Name in German')).click()
    await page.keyboard.type('Andorrra')
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(await viewer.value('AD', 'name_de'), 'Andorrra'))
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Space')
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await (await cellAt(page, 0, 'Name in German')).getByRole('img', { name: 'overridden' }).waitFor()
    await panel.getByRole('button', { name: 'Restore this value' }).click()
    await panel.getByRole('button', { name: 'Revert change' }).click()
    await eventually(async () => assert.equal(await viewer.value('AD', 'name_de'), 'Andorra'))
    await panel
      .getByText(/Reverted by/)
      .first()
      .waitFor()
    const mark = (await cellAt(page, 0, 'Name in German')).getByRole('img', { name: 'overridden' })
    await mark.waitFor({ state: 'detached' })
  })

  await t.test('the panel shows the whole record as well', async () => {
    const panel = page.getByRole('complementary', { name: 'Provenance' })
    await panel.getByRole('tab', { name: 'Record' }).click()
    await eventually(async () => assert.equal(await panel.getByRole('listitem').count(), 24))
    const row = panel.getByRole('listitem').filter({ hasText: 'Week starts on' })
    // Where a field came from is asked for when it comes into sight.
    await row.scrollIntoViewIfNeeded()
    await row.getByText(/Computed by week.yaml/).waitFor()
    await picture(page, 'record-light')
  })

  await t.test('the page of runs lists them, opens one, and reverts it', async () => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click()
    const list = page.getByRole('region', { name: 'Runs' })
    await eventually(async () => assert.equal(await list.getByRole('row').count(), 5))
    await picture(page, 'runs-light')
    await list.getByRole('link', { name: 'Run 1', exact: true }).click()
    const run = page.getByRole('region', { name: 'Run 1' })
    await run.getByText('Week starts on').first().waitFor()
    await picture(page, 'run-light')
    await run.getByRole('button', { name: 'Revert run…' }).click()
    await dialog.getByRole('button', { name: 'Revert 249 cells' }).click()
    await dialog.getByText(/249 cells reverted, without conflicts/).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.equal(await viewer.value('AD', 'week_starts_on'), null)
    await list.getByRole('link', { name: 'Revert of run 1' }).waitFor()
  })

  await t.test('a run with failures lists them, each with a link to its cell', async () => {
    await page.goto(`${viewer.url}/runs/3`)
    await settled(page)
    const failures = page.getByRole('region', { name: 'Failures' })
    await failures.getByText(/418/).first().waitFor()
    await failures.getByRole('link', { name: /^AD / }).first().click()
    await eventually(() => assert.match(page.url(), /cell=AD/))
  })

  await t.test('D28: the dialog shows how many manual values a run keeps or overwrites', async () => {
    const records = [{ id: 'AD', name_de: 'Andorrra' }]
    await viewer.post('/api/records', { records, actor: 'human:ann' })
    await visit(page, '/?cell=AD~name_de')
    await plan(page, /^Compute this column: Name in German/)
    await dialog.getByText('Keeps 1 manual value.').waitFor()
    await dialog.getByRole('checkbox', { name: /^Recompute fresh/ }).check()
    assert.equal(await dialog.getByRole('radio', { name: 'Keep 1 manual value' }).isChecked(), true)
    await dialog.getByRole('radio', { name: 'Recompute everything, overwriting 1 manual value' }).check()
    await dialog.getByText('Overwrites 1 manual value.').waitFor()
    await picture(page, 'plan-overwriting-light')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('a limited run counts what it computes, and leaves other cells as they are', async () => {
    await visit(page, '/?cell=AE~currency_name')
    gate.refuse(/^\/currencies\/AED/)
    gate.close()
    const order = { targets: ['currency_name'], limit: 3, actor: 'human:me' }
    const ends = viewer.post<{ materialized: number }>('/api/materialize', order)
    const bar = goesOn.getByRole('progressbar')
    await eventually(async () => assert.equal(await bar.getAttribute('aria-valuetext'), '0 of 3 cells'))
    const stateOf = async (row: number, name: string): Promise<void> =>
      (await cellAt(page, row, 'Currency name')).getByRole('img', { name }).waitFor()
    for (const row of [1, 2, 3]) await stateOf(row, 'running')
    for (const row of [4, 5]) await stateOf(row, 'missing')
    await picture(page, 'running-limited-light')
    gate.open()
    assert.equal((await ends).materialized, 2)
    await stateOf(1, 'failed')
    const toast = page.getByRole('region', { name: 'Notifications' }).locator('.warning')
    await toast.getByText(/2 cells computed, 1 failed/).waitFor()
    await toast.getByRole('link', { name: 'Show failures' }).waitFor()
    gate.refuse(null)
  })

  await t.test('the page of a run leads to the records that it changed', async () => {
    await visit(page, '/runs/3')
    await page.getByRole('region', { name: 'Run 3' }).getByRole('link', { name: 'Show records' }).click()
    await shows(page.locator('.match-count'), '1 of 249 records')
    await shows(page.locator('.filter-chip-text'), 'Any column changed by run 3')
  })

  await t.test('every state other than fresh has a name', async () => {
    const states = await viewer.get<Record<string, { fresh: number; total_records: number }>>('/api/status')
    const total = Object.values(states).reduce((sum, { total_records: records }) => sum + records, 0)
    assert.equal(total, ALL_CELLS)
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
