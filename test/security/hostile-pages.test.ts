import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { NO_BROWSER, startBrowser } from '../support/browser.ts'
import {
  RequestLog,
  serveCarelessly,
  servePages,
  startServer,
  type SeenRequest,
} from '../support/hostile-server.ts'
import { listen, startApp, type TestApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import {
  attackScript,
  CANARY,
  isLearnt,
  PLANT_COOKIE,
  PLANTED,
  READS,
  WRITES,
  type Attack,
} from '../support/page-attacks.ts'

/** Names that mean this machine to the browser; `sheet.example` is one that the service answers to. */
const NAMES = ['evil.example', 'sheet.example']

/** The origin of the page and of its target; `{evil}` and `{service}` are replaced by the ports. */
const ATTACKERS: readonly {
  readonly what: string
  readonly page: string
  readonly target: string
  /** The page itself, where no server has it any more. */
  readonly html?: string
}[] = [
  { what: 'another port', page: 'http://127.0.0.1:{evil}/', target: 'http://127.0.0.1:{service}' },
  {
    what: 'another port of localhost',
    page: 'http://localhost:{evil}/',
    target: 'http://localhost:{service}',
  },
  {
    what: 'localhost, at the address',
    page: 'http://localhost:{evil}/',
    target: 'http://127.0.0.1:{service}',
  },
  {
    what: 'the address, at localhost',
    page: 'http://127.0.0.1:{evil}/',
    target: 'http://localhost:{service}',
  },
  { what: 'a web site', page: 'http://evil.example:{evil}/', target: 'http://127.0.0.1:{service}' },
  {
    what: 'an opaque origin',
    page: 'http://127.0.0.1:{evil}/sandboxed',
    target: 'http://127.0.0.1:{service}',
  },
  // The page came from its own server; now its name means the service's address.
  {
    what: 'a rebound name',
    page: 'http://evil.example:{service}/',
    target: 'http://evil.example:{service}',
    html: '<!doctype html><body></body>',
  },
]

/** The attacks that succeed from a page of the service itself; its policy and those of the responses stop the others there too. */
const POSSIBLE_AT_HOME = [
  'fetch',
  'fetch with cookies',
  'XMLHttpRequest',
  'a query as JSON',
  'an event stream',
]

test('pages of other origins in a real browser', { skip: NO_BROWSER }, async (t) => {
  const browser = await startBrowser(t, NAMES)
  const evil = await startServer(t, servePages)

  for (const origin of ['http://127.0.0.1', 'http://localhost', 'http://evil.example']) {
    await t.test(`control: a page of ${origin} can read and write without protection`, async (own) => {
      const careless = await startServer(own, serveCarelessly)
      const log = new RequestLog(careless.server)
      const page = await openPage(own, browser, `${origin}:${evil.port}/`)
      const target = `http://127.0.0.1:${careless.port}`
      const learnt = await runInPage(page, READS, target)
      for (const { name, needsCare } of READS) {
        assert.equal(isLearnt(learnt.get(name) ?? ''), needsCare, `${name}: ${learnt.get(name)}`)
      }
      await runInPage(page, WRITES, target)
      await log.answered(WRITES.length, isWrite)
    })
  }

  const service = await startService(t)
  const { running, log } = service
  const before = await stateOf(running)
  const ports = (text: string): string =>
    text.replace('{evil}', String(evil.port)).replace('{service}', String(service.port))

  for (const { what, page: address, target, html } of ATTACKERS) {
    await t.test(`D38: ${what}: a page can neither read, write nor receive events`, async (own) => {
      const known = log.seen.length
      await attackWithAll(await openPage(own, browser, ports(address), html), ports(target), log)
      const seen = log.seen.slice(known)
      assert.ok(seen.length >= WRITES.length * 2)
      assert.deepEqual(
        seen.filter(({ status }) => status !== 403),
        [],
      )
      assert.deepEqual(await stateOf(running), before)
      assert.deepEqual(await running.takeFrames(), [])
      // Cookies know no ports: what stands against these writes is not the token.
      const planted = seen.some((request) => isWrite(request) && request.cookie?.includes(PLANTED))
      assert.equal(planted, /another port|rebound/.test(what))
    })
  }

  await t.test(
    'without marks of the browser, headers still protect the contents from the page',
    async (own) => {
      // Over plain HTTP, browsers send Sec-Fetch-Site only to addresses of this machine and to localhost.
      const known = log.seen.length
      const page = await openPage(own, browser, ports('http://evil.example:{evil}/'))
      await attackWithAll(page, ports('http://sheet.example:{service}'), log)
      const seen = log.seen.slice(known)
      assert.ok(seen.some(({ status, site }) => status === 200 && site === undefined))
      const others = seen.filter(({ method }) => method !== 'GET')
      assert.ok(others.length >= WRITES.length)
      assert.deepEqual(
        others.filter(({ status }) => status !== 403),
        [],
      )
      assert.deepEqual(await stateOf(running), before)
      assert.deepEqual(await running.takeFrames(), [])
    },
  )

  await t.test(
    'the referrer policy lets a page of the service send the origin of its writes',
    async (own) => {
      const target = ports('http://127.0.0.1:{service}')
      const page = await openPage(own, browser, `${target}/page`)
      const known = log.seen.length
      // With `no-referrer` the origin of a form would be null, and a 403 of the origin check the answer.
      const form = { name: 'a form', code: `submit('text/plain', T + '/api/query')`, needsCare: true }
      await page.evaluate(attackScript(form, target))
      for (const mode of ['cors', 'same-origin', 'no-cors']) {
        await page.evaluate(
          `fetch('/api/query', { method: 'POST', body: '{}', mode: '${mode}' }).then(String)`,
        )
      }
      assert.deepEqual(
        log.seen.slice(known).flatMap((one) => (isWrite(one) ? [[one.origin, one.status]] : [])),
        Array.from({ length: 4 }, () => [target, 415]),
      )
    },
  )

  await t.test(
    'control: a page of the service can read, write and receive events, with a planted cookie too',
    async (own) => {
      const target = ports('http://127.0.0.1:{service}')
      const page = await openPage(own, browser, `${target}/page`)
      const reads = READS.filter(({ name }) => POSSIBLE_AT_HOME.includes(name))
      assert.equal(reads.length, POSSIBLE_AT_HOME.length)
      for (const [name, outcome] of await runInPage(page, reads, target)) {
        assert.ok(isLearnt(outcome), `${name}: ${outcome}`)
      }
      await runInPage(
        page,
        WRITES.filter(({ name }) => name.endsWith('with the planted token')),
        target,
      )
      const { records } = (await running.app.inject('/api/records')).json<{ records: { id: string }[] }>()
      assert.deepEqual(
        records.map(({ id }) => id),
        ['planted'],
      )
    },
  )
})

/** A service over a sheet with the canary in it, that answers to a name, and has a page. */
async function startService(t: TestContext): Promise<{ running: TestApp; log: RequestLog; port: number }> {
  const running = await startApp(t, {
    files: { records: [{ id: 'a', title: CANARY, currency: 'EUR' }] },
    app: { allowedHosts: ['sheet.example'] },
  })
  running.app.get('/page', (_request, reply) =>
    reply
      .header('content-security-policy', "default-src 'self'")
      .type('text/html')
      .send('<!doctype html><title>Our page</title><body></body>'),
  )
  const port = await listen(running.app)
  return { running, log: new RequestLog(running.app.server), port }
}

/** Opens a page with cookies of its own, and plants the token wherever the page may. */
async function openPage(t: TestContext, browser: Browser, address: string, html?: string): Promise<Page> {
  const context = await browser.newContext()
  onEnd(t, () => context.close())
  const page = await context.newPage()
  if (html !== undefined) {
    await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  }
  await page.goto(address)
  await page.unrouteAll()
  await page.evaluate(PLANT_COOKIE)
  return page
}

/** Runs attacks at the same time, and says what came of each. */
async function runInPage(
  page: Page,
  attacks: readonly Attack[],
  target: string,
): Promise<ReadonlyMap<string, string>> {
  const outcomes = attacks.map(async (attack): Promise<[string, string]> => {
    return [attack.name, String(await page.evaluate(attackScript(attack, target)))]
  })
  return new Map(await Promise.all(outcomes))
}

function isWrite({ method }: SeenRequest): boolean {
  return method === 'POST' || method === 'DELETE'
}

/** Tries everything; fails as soon as the page learns something, or an attack does not get as far as the service. */
async function attackWithAll(page: Page, target: string, log: RequestLog): Promise<void> {
  for (const [name, outcome] of await runInPage(page, READS, target)) {
    assert.ok(!isLearnt(outcome), `${name}: ${outcome}`)
  }
  const known = log.seen.length
  await runInPage(page, WRITES, target)
  await log.answered(known + WRITES.length, () => true)
  // Frames show nothing either, not even to whom looks at the screen.
  for (const frame of page.frames()) assert.doesNotMatch(await frame.content(), new RegExp(CANARY))
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate(`window.opened = window.open('${target}/api/records'); undefined`),
  ])
  await opened.waitForLoadState()
  const shown = await page.evaluate(`(() => {
    try { return opened.document.body.innerText } catch (error) { return String(error) }
  })()`)
  assert.doesNotMatch(String(shown), new RegExp(CANARY))
}

async function stateOf({ app }: TestApp): Promise<string[]> {
  const paths = ['/api/records', '/api/status', '/api/runs']
  return Promise.all(paths.map(async (path) => (await app.inject(path)).body))
}
