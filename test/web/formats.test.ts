import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { NO_BROWSER } from '../support/browser.ts'
import { onEnd } from '../support/on-end.ts'
import { openMenu } from '../support/panels.ts'
import { cellAt, eventually, picture, SheetViewer, shows, visit } from '../support/viewer.ts'

const FIELDS = ['year', 'gross', 'seen', 'site', 'contact', 'poster', 'review', 'still', 'lost', 'elsewhere']
const TYPES: Readonly<Record<string, string>> = { year: 'integer', gross: 'number', seen: 'timestamp' }
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6"><rect width="9" height="6" fill="teal"/></svg>'
const FILM = {
  id: 'f1',
  year: 2024,
  gross: 1234.567,
  seen: '2026-03-01T12:00:00+02:00',
  site: 'https://films.example/1',
  contact: 'crew@films.example',
  poster: `data:image/svg+xml,${encodeURIComponent(SVG)}`,
  review: '# Fine\nA **strong** film, <b>no</b> HTML, [more](https://films.example/more)',
}

interface ImageHost {
  readonly host: string
  readonly received: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[]
}

/** Another host, which has `/still.svg` and nothing else. */
async function imageHost(t: TestContext): Promise<ImageHost> {
  const received: ImageHost['received'] = []
  const server = createServer(({ url, headers }, response) => {
    received.push({ url, headers })
    response.writeHead(url === '/still.svg' ? 200 : 404, { 'content-type': 'image/svg+xml' })
    response.end(url === '/still.svg' ? SVG : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(t, () => void server.close())
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

async function filmSheet(t: TestContext, film: object): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-formats-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  const fields = FIELDS.map((name) => `      - {name: ${name}, logicalType: ${TYPES[name] ?? 'string'}}`)
  await writeFile(
    join(directory, 'contract.yaml'),
    `apiVersion: v3.1.0
kind: DataContract
id: films
version: 1.0.0
status: active
schema:
  - name: Films
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
${fields.join('\n')}
`,
  )
  await writeFile(join(directory, 'records.jsonl'), `${JSON.stringify(film)}\n`)
  return directory
}

test('formats of columns', { skip: NO_BROWSER }, async (t) => {
  const { host, received } = await imageHost(t)
  const images = {
    still: `http://${host}/still.svg`,
    lost: `http://${host}/lost.svg`,
    elsewhere: 'https://images.example/1.png',
  }
  const sheet = await filmSheet(t, { ...FILM, ...images })
  const viewer = await SheetViewer.on(t, sheet, { imageHosts: [host, '*.films.example'] })
  const context = await viewer.newContext({ viewport: { width: 2200, height: 600 } })
  const page = await viewer.open('/', context)
  const choose = async (title: string, choice: string): Promise<void> => {
    await openMenu(page, title)
    const format = page.getByRole('menuitem', { name: 'Format' })
    await format.focus()
    await page.keyboard.press('ArrowRight')
    const item = page.getByRole('menuitemradio', { name: choice, exact: true })
    await item.click()
    assert.equal(await item.getAttribute('aria-checked'), 'true')
    await page.keyboard.press('Escape')
    await format.waitFor({ state: 'detached' })
  }

  await t.test('follow the type: years are not grouped, URLs and email addresses are links', async () => {
    await shows(await cellAt(page, 0, 'year'), '2024')
    await shows(await cellAt(page, 0, 'gross'), '1,234.567')
    const linkIn = async (title: string) =>
      (await cellAt(page, 0, title)).getByRole('link').getAttribute('href')
    assert.equal(await linkIn('site'), FILM.site)
    assert.equal(await linkIn('contact'), `mailto:${FILM.contact}`)
    await shows(await cellAt(page, 0, 'poster'), /^data:image/)
  })

  await t.test('are set in the menu of a column', async () => {
    await choose('gross', '2 decimals')
    await shows(await cellAt(page, 0, 'gross'), '1,234.57')
    await choose('seen', 'UTC')
    await shows(await cellAt(page, 0, 'seen'), '2026-03-01 10:00:00')
    await choose('site', 'Plain text')
    assert.equal(await (await cellAt(page, 0, 'site')).getByRole('link').count(), 0)
    await choose('poster', 'Image')
    const image = (await cellAt(page, 0, 'poster')).getByRole('img')
    assert.equal(await image.evaluate((element) => Reflect.get(element, 'naturalWidth') as number), 9)
    await choose('review', 'Markdown')
    const review = await cellAt(page, 0, 'review')
    assert.deepEqual(
      await review.locator('.markdown > *').evaluateAll((all) => all.map(({ tagName }) => tagName)),
      ['STRONG', 'U'],
    )
    assert.match(await review.innerText(), /^Fine A strong film, <b>no<\/b> HTML, more/)
    await picture(page, 'formats')
  })

  await t.test(
    'images of other hosts are shown if the server allows the host, in a box of one size',
    async () => {
      for (const field of ['still', 'lost', 'elsewhere']) await choose(field, 'Image')
      const image = (await cellAt(page, 0, 'still')).getByRole('img')
      await eventually(async () =>
        assert.equal(await image.evaluate((element) => Reflect.get(element, 'naturalWidth') as number), 9),
      )
      const lost = (await cellAt(page, 0, 'lost')).getByRole('img', {
        name: `Cannot load the image ${images.lost}`,
      })
      await lost.waitFor()
      const boxOf = async (place: typeof image) => {
        const { width, height } = (await place.boundingBox()) ?? { width: 0, height: 0 }
        return [Math.round(width), Math.round(height)]
      }
      assert.deepEqual(await boxOf(image.locator('..')), await boxOf(lost))
      const [width = 0, height = 0] = await boxOf(lost)
      assert.ok(height > 20 && Math.abs(width - height * 1.5) <= 1, `${width} x ${height}`)
      const link = (await cellAt(page, 0, 'elsewhere')).getByRole('link')
      assert.match((await link.getAttribute('title')) ?? '', /--allow-images images\.example$/)
      assert.deepEqual(received.map(({ url }) => url ?? '').toSorted(), ['/lost.svg', '/still.svg'])
      assert.ok(received.every(({ headers }) => headers.referer === undefined))
      await picture(page, 'images')
      // The requests to the allowed host are the only ones beyond the server.
      const others = viewer.problems.splice(0)
      assert.deepEqual(others.toSorted(), [`request: ${images.lost}`, `request: ${images.still}`])
    },
  )

  await t.test('are remembered, and hold in the panel, where links have the focus', async () => {
    await visit(page, '/?cell=f1~review&panel=1')
    await shows(await cellAt(page, 0, 'gross'), '1,234.57')
    const more = page.getByRole('complementary').getByRole('link', { name: 'more' })
    await more.focus()
    assert.equal(await more.getAttribute('rel'), 'noopener noreferrer')
  })

  await t.test('no page reported an error, or loaded anything else', () => {
    const isAllowed = (problem: string): boolean => problem.startsWith(`request: http://${host}/`)
    assert.deepEqual(
      viewer.problems.filter((problem) => !isAllowed(problem)),
      [],
    )
  })
})
