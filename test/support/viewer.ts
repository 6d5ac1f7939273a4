import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { startBrowser } from './browser.ts'
import type { ServeOptions } from '../../src/cli/commands/serve/run-serve.ts'
import { placeOnEngine } from './engine.ts'
import { exampleSheet, type ExampleSheet } from './example.ts'
import { GatedApi } from './gated-api.ts'
import { onEnd } from './on-end.ts'
import { serveHere } from './serve-here.ts'

const PICTURES = join(import.meta.dirname, '..', '..', '.cache', 'screenshots')
const GRACE_MS = 30_000
const POLL_MS = 50
const CALM_POLLS = 2

/** Matches messages that pages may log: browsers report each refused request there, which pages cannot prevent. */
const EXPECTED = /^Failed to load resource: the server responded with a status of (4\d\d|500|503)/

/** The viewer in a browser, before its own server on a sheet. */
export class SheetViewer {
  readonly url: string
  readonly browser: Browser
  /** Errors of any page: on the console, of scripts, against the policy; and requests to other hosts. */
  readonly problems: string[] = []

  protected constructor(url: string, browser: Browser) {
    this.url = url
    this.browser = browser
  }

  /** Serves the sheet of a directory on this engine, with these options of `serve`, in this process; it ends with the test. */
  static async on(
    t: TestContext,
    directory: string,
    options: Partial<ServeOptions> = {},
  ): Promise<SheetViewer> {
    return new SheetViewer(...(await serveAndBrowse(t, directory, options)))
  }

  /** Opens the viewer of another server at an address; the browser ends with the test. */
  static async at(t: TestContext, url: string): Promise<SheetViewer> {
    return new SheetViewer(url, await startBrowser(t))
  }

  /** Creates a new browser profile. */
  async newContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      ...options,
    })
    context.setDefaultTimeout(GRACE_MS)
    return context
  }

  /** Opens a path of the viewer in its own tab, and waits until it is no longer busy. */
  async open(path = '/', context?: BrowserContext): Promise<Page> {
    const page = await (context ?? (await this.newContext())).newPage()
    this.#watch(page)
    await page.goto(this.url + path)
    await settled(page)
    return page
  }

  /** Reads from the server, without the page. */
  async get<T>(path: string): Promise<T> {
    const response = await fetch(this.url + path)
    assert.equal(response.status, 200, path)
    return (await response.json()) as T
  }

  /** Writes to the server, as another client. */
  async post<T>(path: string, body: unknown): Promise<T> {
    const csrf = await fetch(`${this.url}/api/csrf`)
    const { csrf_token: token } = (await csrf.json()) as { csrf_token: string }
    const cookie = csrf.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': token, cookie },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    assert.ok(response.ok, `${path}: ${text}`)
    return JSON.parse(text) as T
  }

  /** Returns the value of a cell. */
  async value(id: string, field: string): Promise<unknown> {
    return (await this.get<Record<string, unknown>>(`/api/records/${id}`))[field] ?? null
  }

  /** Asserts that no page has reported an error since the last call. */
  assertCalm(): void {
    assert.deepEqual(this.problems.splice(0), [])
  }

  #watch(page: Page): void {
    page.on('console', (message) => {
      const isBad = message.type() === 'error' || message.type() === 'warning'
      if (isBad && !EXPECTED.test(message.text())) this.problems.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.problems.push(`script: ${String(error)}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${this.url}/`) && !/^(blob|data):/.test(url)) this.problems.push(`request: ${url}`)
    })
  }
}

/** The viewer on a copy of the example. */
export class Viewer extends SheetViewer {
  readonly sheet: ExampleSheet
  readonly gate: GatedApi

  private constructor(at: Served, sheet: ExampleSheet, gate: GatedApi) {
    super(...at)
    this.sheet = sheet
    this.gate = gate
  }

  /** Starts all of it; it ends with the test. */
  static async start(t: TestContext): Promise<Viewer> {
    const sheet = await exampleSheet()
    onEnd(t, () => sheet.cleanup())
    const gate = await GatedApi.before(t, sheet)
    return new Viewer(await serveAndBrowse(t, sheet.path), sheet, gate)
  }
}

type Served = readonly [url: string, browser: Browser]

async function serveAndBrowse(
  t: TestContext,
  directory: string,
  options: Partial<ServeOptions> = {},
): Promise<Served> {
  const { url } = await serveHere(t, await placeOnEngine(directory), options)
  return [url, await startBrowser(t)]
}

/**
 * Goes to a path of the viewer as a link does, and waits until it is no longer busy. Loading the page again takes several times as long:
 * only for tests of what survives that.
 */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
  await settled(page)
}

/** Waits until the page has not been busy for a moment: loaded data may lead to further requests. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main').waitFor()
  let calm = 0
  await eventually(async () => {
    const busy = await page.locator('main [aria-busy=true], .app-loading').count()
    calm = busy === 0 ? calm + 1 : 0
    assert.ok(calm >= CALM_POLLS, 'still busy')
  })
}

/** Repeats an assertion until it holds, at most `patience` milliseconds. */
export async function eventually(check: () => Promise<void> | void, patience = GRACE_MS): Promise<void> {
  const end = performance.now() + patience
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(POLL_MS)
    }
  }
}

/** Returns a cell of the grid by its row, from 0, and the title of its column; both must be visible. */
export async function cellAt(page: Page, row: number, title: string): Promise<Locator> {
  const head = page.getByRole('columnheader', { name: title, exact: true })
  const column = await head.getAttribute('aria-colindex')
  return page.locator(`.grid-row[data-row="${row}"] [aria-colindex="${column}"]`)
}

/** Waits until an element shows a text. */
export async function shows(place: Locator, text: string | RegExp): Promise<void> {
  await eventually(async () => {
    const shown = (await place.innerText()).replaceAll(/\s+/g, ' ').trim()
    if (typeof text === 'string') assert.equal(shown, text)
    else assert.match(shown, text)
  })
}

/** Scrolls the grid sideways, and waits for its columns: they follow in the next frame. */
export async function scrollSideways(page: Page, left: number): Promise<void> {
  await page.getByRole('grid').evaluate((grid, to) => grid.scrollTo({ left: to }), left)
  await painted(page)
}

/** Moves the mouse over the head of a column, which shows its buttons; returns the head. */
export async function hoverHead(page: Page, title: string): Promise<Locator> {
  const head = page.getByRole('columnheader', { name: title, exact: true })
  await head.scrollIntoViewIfNeeded()
  await painted(page)
  await head.hover()
  return head
}

/** Waits until the page has painted what has changed. */
export async function painted(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** Writes a screenshot of the page to `.cache/screenshots`, if `COLOPHON_PICTURES` is set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!process.env['COLOPHON_PICTURES']) return
  await mkdir(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' })
}
