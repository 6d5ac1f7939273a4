import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { picture, settled } from '../support/viewer.ts'
import { PAGES, viewerWithRun } from '../support/viewer-pages.ts'

test('on a narrow screen', { skip: NO_BROWSER }, async (t) => {
  const viewer = await viewerWithRun(t)
  await t.test('the pages are usable at 390 pixels', async () => {
    const context = await viewer.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true })
    const page = await viewer.open('/', context)
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(viewer.url + path)
      await settled(page)
      await picture(page, `${name}-narrow`)
      const [scrolled, wide] = await page.evaluate<number[]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      )
      assert.ok((scrolled ?? 0) <= (wide ?? 0), `${path}: ${scrolled} px in ${wide}`)
    }
    await page.goto(viewer.url)
    await page.getByRole('button', { name: 'Run…' }).click()
    await page.getByRole('menuitem', { name: 'All that is to be computed' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('region', { name: 'Plan' }).waitFor()
    const box = await dialog.boundingBox()
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390)
    await context.close()
  })

  await t.test('nothing was wrong meanwhile', () => viewer.assertCalm())
})
