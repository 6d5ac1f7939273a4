import type { TestContext } from 'node:test'
import { axeFaults } from './axe-faults.ts'
import { picture, settled, Viewer } from './viewer.ts'
import assert from 'node:assert/strict'

/** The states of the viewer that everybody sees, by what pictures of them are called. */
export const PAGES: Readonly<Record<string, string>> = {
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

/** A viewer of a sheet in which some cells are fresh, some failed and most missing, and proposals wait. */
export async function viewerWithRun(t: TestContext): Promise<Viewer> {
  const viewer = await Viewer.start(t)
  await viewer.post('/api/materialize', { actor: 'human:me', record_ids: ['AD', 'AE', 'AQ', 'BV'] })
  await proposeSome(viewer)
  return viewer
}

/** Three proposals that wait: a write, a write under which a record has moved, and a deletion. */
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

/** That axe finds nothing anywhere, in a theme; with pictures. */
export async function assertAccessible(t: TestContext, colorScheme: 'light' | 'dark'): Promise<void> {
  // The themes differ in their colours alone, and all the rules take a minute.
  const rules = colorScheme === 'light' ? null : ['color-contrast']
  const viewer = await viewerWithRun(t)
  // Axe looks at every cell: a few rows are enough.
  const context = await viewer.newContext({ colorScheme, viewport: { width: 1280, height: 480 } })
  const page = await viewer.open('/', context)
  for (const [name, path] of Object.entries(PAGES)) {
    await t.test(`axe finds nothing at ${path} in ${colorScheme}`, async () => {
      await page.goto(viewer.url + path)
      await settled(page)
      await picture(page, `${name}-${colorScheme}`)
      assert.deepEqual(await axeFaults(page, rules), [])
    })
  }
  await t.test(`nor in dialogs and menus in ${colorScheme}`, async () => {
    await page.goto(viewer.url)
    await settled(page)
    await page.getByRole('button', { name: 'Run…' }).click()
    await page.getByRole('menuitem', { name: 'All that is to be computed' }).click()
    await page.getByRole('region', { name: 'Plan' }).waitFor()
    await picture(page, `plan-${colorScheme}`)
    assert.deepEqual(await axeFaults(page, rules), [])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await picture(page, `commands-${colorScheme}`)
    assert.deepEqual(await axeFaults(page, rules), [])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add record' }).click()
    await page.getByRole('dialog', { name: 'New record' }).waitFor()
    assert.deepEqual(await axeFaults(page, rules), [])
  })
  await t.test('nothing was wrong meanwhile', () => viewer.assertCalm())
}
