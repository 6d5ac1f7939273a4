import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { axeFaults } from '../support/axe-faults.ts'
import { NO_BROWSER, startBrowser } from '../support/browser.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { exampleSheet } from '../support/example.ts'
import { onEnd } from '../support/on-end.ts'
import { picture } from '../support/viewer.ts'

/** Opens the documentation of the example, in either theme and at either width, and hears what goes wrong. */
async function openDocs(
  t: TestContext,
): Promise<(look: 'light' | 'dark', width: number) => Promise<{ page: Page; problems: readonly string[] }>> {
  const sheet = await exampleSheet()
  onEnd(t, () => sheet.cleanup())
  const server = new ColophonProcess(t, ['serve', sheet.path, '--port', '0'])
  const [port, browser] = await Promise.all([server.port(), startBrowser(t)])
  const origin = `http://127.0.0.1:${port}`
  return async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) problems.push(request.url())
    })
    const response = await page.goto(`${origin}/docs`)
    assert.equal(response?.status(), 200)
    return { page, problems }
  }
}

for (const look of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    test(
      `the documentation is without faults for axe and asks for nothing elsewhere: ${look}, ${width} wide`,
      { skip: NO_BROWSER },
      async (t) => {
        const open = await openDocs(t)
        const { page, problems } = await open(look, width)
        await picture(page, `docs-${look}-${width}`)
        // What depends on neither colours nor width has been looked at.
        assert.deepEqual(await axeFaults(page, look === 'dark' ? ['color-contrast'] : null), [])
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        assert.ok(wide <= width, `${wide} wide on a window of ${width}`)
        // The browser asks for an icon by itself, which only the viewer has.
        assert.deepEqual(
          problems.filter((text) => !text.includes('404')),
          [],
        )
        const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
        const expected = look === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 22, 26)'
        assert.equal(background, expected, 'the style applies')
      },
    )
  }
}

test('axe is there, and finds what is wrong', { skip: NO_BROWSER }, async (t) => {
  const open = await openDocs(t)
  const { page } = await open('light', 1280)
  await page.evaluate(() => document.body.append(document.createElement('img')))
  assert.deepEqual(await axeFaults(page), ['image-alt: <img>', 'region: <img>'])
})

test(
  'the documentation tells of the sheet’s own fields, and every link in it leads somewhere',
  { skip: NO_BROWSER },
  async (t) => {
    const open = await openDocs(t)
    const { page } = await open('light', 1280)
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
    await picture(page, 'docs-list-records')
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
      return ids.filter((id, index) => ids.indexOf(id) !== index)
    })
    assert.deepEqual(twice, [])
  },
)
