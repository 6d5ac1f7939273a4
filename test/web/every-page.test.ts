import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { assertAccessible } from '../support/panels.ts'
import { NO_BROWSER } from '../support/browser.ts'
import { picture, settled, Viewer, visit } from '../support/viewer.ts'

/** The states of the viewer that everybody sees, by the names of their pictures. */
const PAGES: Readonly<Record<string, string>> = {
  records: '/',
  panel: '/?cell=AD~name_de&panel=1',
  failed: '/?cell=AQ~time_zones&panel=1',
  filtered: `/?sort=-area&where=${encodeURIComponent('[{"field":"region","is":"anyOf","value":["Europe"]}]')}`,
  derivations: '/derivations',
  derivation: '/derivations?file=names.yaml',
  runs: '/runs',
  run: '/runs/1',
  proposals: '/proposals',
  proposal: '/proposals/1',
  moved: '/proposals/2',
  deletion: '/proposals/3',
  sql: '/sql',
  contract: '/contract',
}

/** Axe looks at every cell: a few rows are enough. */
const WIDE = { width: 1280, height: 480 }
const NARROW = { width: 390, height: 844 }

/** Returns a viewer of a sheet in which some cells are fresh, some failed and most missing, and proposals wait. */
async function viewerWithRun(t: TestContext): Promise<Viewer> {
  const viewer = await Viewer.start(t)
  await viewer.post('/api/materialize', { actor: 'human:me', record_ids: ['AD', 'AE', 'AQ', 'BV'] })
  await proposeSome(viewer)
  return viewer
}

/** Makes three proposals that wait: a write, a write under which a record has moved, and a deletion. */
async function proposeSome(viewer: Viewer): Promise<void> {
  const actor = 'agent:editor'
  const name = 'Principality of Andorra'
  await viewer.post('/api/proposals', {
    actor,
    note: 'Official names and areas, from the statistics of last year',
    records: [
      { id: 'AD', name, area: 468.5 },
      {
        id: 'XX',
        name: 'Nowhere',
        alpha3: 'XXX',
        numeric: '999',
        region: 'Europe',
        languages: ['Esperanto'],
        landlocked: true,
        independent: false,
      },
    ],
  })
  await viewer.post('/api/proposals', { actor, records: [{ id: 'AE', area: 83_600.5 }] })
  await viewer.post('/api/records', { actor: 'human:me', records: [{ id: 'AE', area: 83_601 }] })
  await viewer.post('/api/proposals', { actor, ids: ['BV'], note: 'Nobody lives there' })
}

test('every page', { skip: NO_BROWSER }, async (t) => {
  const viewer = await viewerWithRun(t)
  const page = await viewer.open('/', await viewer.newContext({ viewport: WIDE }))

  for (const [name, path] of Object.entries(PAGES)) {
    await t.test(`axe finds nothing at ${path}, and it fits into 390 pixels`, async () => {
      await visit(page, path)
      // Axe takes seconds for the grid: it looks at that once.
      await assertAccessible(page, name, name === 'records' ? {} : { exclude: '[role=grid]' })
      await page.setViewportSize(NARROW)
      await settled(page)
      await picture(page, `${name}-narrow`)
      const [scrolled, wide] = await page.evaluate<number[]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      )
      assert.ok((scrolled ?? 0) <= (wide ?? 0), `${path}: ${scrolled} px in ${wide}`)
      await page.setViewportSize(WIDE)
    })
  }

  await t.test('the whole header is in view at 800 pixels', async () => {
    await page.setViewportSize({ width: 800, height: 700 })
    const box = await page.getByRole('button', { name: /human:me/ }).boundingBox()
    assert.ok(box !== null && box.x + box.width <= 800, JSON.stringify(box))
    await page.setViewportSize(WIDE)
  })

  await t.test('nor in dialogs and menus', async () => {
    await visit(page, '/')
    await page.getByRole('button', { name: 'Run…' }).click()
    await page.getByRole('menuitem', { name: 'Compute missing, stale and failed cells' }).click()
    const plan = page.getByRole('region', { name: 'Plan' })
    await plan.waitFor()
    await assertAccessible(page, 'plan', { include: '[role=dialog]' })
    await page.setViewportSize(NARROW)
    const box = await page.getByRole('dialog').boundingBox()
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= NARROW.width)
    await page.setViewportSize(WIDE)
    await page.keyboard.press('Escape')
    await plan.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await assertAccessible(page, 'commands', { include: '[role=dialog]' })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add record' }).click()
    await page.getByRole('dialog', { name: 'New record' }).waitFor()
    await assertAccessible(page, 'new-record', { include: '[role=dialog]' })
  })

  await t.test('no page reported an error', () => viewer.assertCalm())
})
