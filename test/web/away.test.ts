import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_BROWSER } from '../support/browser.ts'
import { RestartableViewer } from '../support/restartable-viewer.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { cellAt, eventually, picture, settled, shows, SheetViewer } from '../support/viewer.ts'

const AWAY = /^No connection to the server\./
/** The page tries to connect again after longer and longer, at most 15 seconds. */
const BACK = { state: 'detached' } as const

/** The number of requests of the page for the stream of changes. */
function countStreams(...pages: readonly Page[]): () => number {
  let count = 0
  for (const page of pages) {
    page.on('request', (request) => {
      if (request.url().endsWith('/api/sheet/events')) count += 1
    })
  }
  return () => count
}

/** The files that a page has fetched. */
function fetched(page: Page): Promise<string> {
  return page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ responseStatus }) => responseStatus === 200)
      .map(({ name }) => name)
      .join(),
  )
}

test('a server that stops and comes back', { skip: NO_BROWSER }, async (t) => {
  const viewer = await RestartableViewer.serving(t, await writeSheet(t))
  const page = await viewer.open('/?cell=a~title&panel=1')
  const notice = page.getByText(AWAY)
  const panel = page.getByRole('complementary', { name: 'Provenance' })
  const title = await cellAt(page, 0, 'title')

  await t.test('the page reports it, and keeps its contents', async () => {
    // They are fetched when there is nothing else to do.
    await eventually(async () => {
      for (const name of ['runs-page', 'contract-page']) assert.ok((await fetched(page)).includes(name))
    })
    await viewer.stop()
    await notice.waitFor()
    await picture(page, 'away-light')
    assert.equal(await title.innerText(), 'Apple')
    await panel
      .getByRole('heading', { name: 'History' })
      .or(panel.getByText(/never been computed/))
      .first()
      .waitFor()
  })

  await t.test('an edit is refused, and the value is restored when it is discarded', async () => {
    await title.click()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('Elsewhere')
    await page.keyboard.press('Enter')
    await title.click()
    const refused = page.getByRole('dialog', { name: 'Not saved' })
    await refused.getByText(/the server does not answer/).waitFor()
    await picture(page, 'away-refused-light')
    await refused.getByRole('button', { name: 'Discard' }).click()
    await shows(title, 'Apple')
  })

  await t.test('a waiting edit is saved when the server is back', async () => {
    await title.click()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('Apple, still')
    await page.keyboard.press('Enter')
    await title.click()
    const refused = page.getByRole('dialog', { name: 'Not saved' })
    await refused.getByText(/saved again when the server can be reached/).waitFor()
    const question = page.waitForEvent('dialog')
    const reload = page.evaluate(() => location.reload())
    const asked = await question
    assert.equal(asked.type(), 'beforeunload')
    await asked.dismiss()
    await reload
    await viewer.restart()
    await notice.waitFor(BACK)
    await refused.waitFor({ state: 'detached' })
    await shows(title, 'Apple, still')
    await eventually(async () => {
      assert.equal(await viewer.value('a', 'title'), 'Apple, still')
    })
  })

  await t.test('a page that is opened meanwhile is loaded when the server is back', async () => {
    await viewer.stop()
    await notice.waitFor()
    await page.getByRole('link', { name: 'Contract' }).click()
    await page.getByRole('link', { name: 'Runs' }).click()
    await viewer.restart()
    await notice.waitFor(BACK)
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  })

  await t.test('a browser without a network still reaches a local server', async () => {
    await page.evaluate(() => dispatchEvent(new Event('offline')))
    await page.getByRole('link', { name: 'Derivations' }).click()
    await page.getByRole('button', { name: /^rate http/ }).waitFor()
    assert.equal(await notice.count(), 0)
  })
})

test('two tabs share one stream of changes', { skip: NO_BROWSER }, async (t) => {
  const viewer = await RestartableViewer.serving(t, await writeSheet(t))
  const context = await viewer.newContext()
  const [first, second] = [await context.newPage(), await context.newPage()]
  const streams = countStreams(first, second)
  for (const page of [first, second]) {
    await page.goto(viewer.url)
    await settled(page)
  }
  const write = (title: string): Promise<unknown> =>
    viewer.post('/api/records', { records: [{ id: 'a', title }], actor: 'human:ann' })

  await t.test('both receive a change', async () => {
    await write('One')
    for (const page of [first, second]) await shows(await cellAt(page, 0, 'title'), 'One')
    assert.equal(streams(), 1)
  })

  await t.test(
    'both show that the server is unavailable, that it is back, and what has changed meanwhile',
    async () => {
      await viewer.stop()
      for (const page of [first, second]) await page.getByText(AWAY).waitFor()
      await viewer.restart()
      await write('Two')
      for (const page of [first, second]) await page.getByText(AWAY).waitFor(BACK)
      for (const page of [first, second]) await shows(await cellAt(page, 0, 'title'), 'Two')
    },
  )

  await t.test('when one is closed the other opens its own stream', async () => {
    const before = streams()
    await first.close()
    await eventually(() => assert.equal(streams(), before + 1))
    await write('Three')
    await shows(await cellAt(second, 0, 'title'), 'Three')
  })
})

test('pages whose files cannot be loaded', { skip: NO_BROWSER }, async (t) => {
  const viewer = await SheetViewer.on(t, await writeSheet(t))

  await t.test('are prefetched later', async () => {
    const context = await viewer.newContext()
    let asked = 0
    await context.route(/\/assets\/runs-page/, (route) => (++asked > 1 ? route.continue() : route.abort()))
    const page = await viewer.open('/', context)
    await eventually(async () => assert.match(await fetched(page), /runs-page/))
    await page.getByRole('link', { name: 'Runs' }).click()
    const runs = page.locator('.runs-page')
    const display = await runs.evaluate((element) => getComputedStyle(element).display)
    assert.equal(display, 'grid', 'its style is there too')
    await context.close()
  })

  await t.test('say so, and the rest is shown', async () => {
    const context = await viewer.newContext()
    // As after an update of the server, which has other files.
    await context.route(/\/assets\/contract-page/, (route) => route.abort())
    const page = await viewer.open('/', context)
    await page.getByRole('link', { name: 'Contract' }).click()
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor()
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
    await page.getByRole('link', { name: 'Contract' }).click()
    await context.unroute(/\/assets\/contract-page/)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('searchbox', { name: 'Search fields' }).waitFor()
  })
})
