import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER, startBrowser } from '../support/browser.ts'
import { exampleSheet } from '../support/example.ts'
import { onEnd } from '../support/on-end.ts'
import { serveHere } from '../support/serve-here.ts'
import { picture } from '../support/viewer.ts'

test('the documentation', { skip: NO_BROWSER }, async (t) => {
  const sheet = await exampleSheet()
  onEnd(t, () => sheet.cleanup())
  const [{ url: origin }, browser] = await Promise.all([serveHere(t, sheet.path), startBrowser(t)])
  const context = await browser.newContext({ colorScheme: 'light', viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(request.url())
  })
  const response = await page.goto(`${origin}/docs`)
  assert.equal(response?.status(), 200)
  const assertBackground = async (expected: string): Promise<void> => {
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.equal(background, expected, 'the style applies')
  }

  await t.test('shows no violations of axe, in light', async () => {
    await picture(page, 'docs-light')
    assert.deepEqual(await axeFaults(page), [])
    await assertBackground('rgb(255, 255, 255)')
  })

  await t.test('nor in dark, which differs in its colours alone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, 'docs-dark')
    assert.deepEqual(await axeFaults(page, { rules: ['color-contrast'] }), [])
    await assertBackground('rgb(20, 22, 26)')
    await page.emulateMedia({ colorScheme: 'light' })
  })

  await t.test('has the sheet’s own fields, and all of its links work', async () => {
    const record = page.locator('#schema-Record')
    assert.match(await record.innerText(), /capital\s+string or null\s+optional\s+Seat of government/)
    const dead = await page.evaluate(() =>
      [...document.querySelectorAll('a[href^="#"]')]
        .map((link) => link.getAttribute('href') ?? '')
        .filter((href) => document.getElementById(href.slice(1)) === null),
    )
    assert.deepEqual(dead, [])
    await page.getByRole('link', { name: 'GET List records', exact: true }).click()
    assert.match(page.url(), /#listRecords$/)
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
      return ids.filter((id, index) => ids.indexOf(id) !== index)
    })
    assert.deepEqual(twice, [])
  })

  await t.test('fits into 390 pixels', async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    await picture(page, 'docs-narrow')
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(wide <= 390, `${wide} wide on a window of 390`)
  })

  await t.test('requests nothing from other hosts, and logs no errors', () => {
    // The browser asks for an icon by itself, which only the viewer has.
    assert.deepEqual(
      problems.filter((text) => !text.includes('404')),
      [],
    )
  })

  await t.test('axe is present, and finds a violation', async () => {
    await page.evaluate(() => document.body.append(document.createElement('img')))
    assert.deepEqual(await axeFaults(page, { rules: ['image-alt'] }), ['image-alt: <img>'])
  })
})
