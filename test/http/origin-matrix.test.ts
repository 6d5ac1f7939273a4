import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test, type TestContext } from 'node:test'
import pLimit from 'p-limit'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { listRoutes, type AppRoute } from '../support/app-routes.ts'
import { CSRF, listen, startApp, type TestApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { send, type Answer, type SentRequest } from '../support/send.ts'

/*
 * D38 as a matrix. What each header stands for is written down by hand beside it, and three rules say what must
 * come of them together; nothing here asks the product's code.
 */

interface HostCase {
  /** The values of the header, as often as it is sent. */
  readonly sent: readonly string[]
  readonly served: boolean
  /** The name of the origin of its pages in {@link ORIGINS}. */
  readonly pages?: readonly string[]
}

const HOSTS: readonly HostCase[] = [
  { sent: ['localhost:4100'], served: true, pages: ['localhost'] },
  { sent: ['LocalHost:4100'], served: true, pages: ['localhost'] },
  { sent: ['127.0.0.1:4100'], served: true, pages: ['address'] },
  { sent: ['[::1]:4100'], served: true, pages: ['address 6'] },
  { sent: ['127.0.0.1:4101'], served: true },
  { sent: ['127.0.0.1'], served: true },
  { sent: ['sheet.example'], served: true, pages: ['name', 'name over TLS'] },
  { sent: ['evil.example:4100'], served: false },
  { sent: ['evil.example'], served: false },
  { sent: ['127.0.0.1.evil.example:4100'], served: false },
  { sent: ['0x7f.1:4100'], served: false },
  { sent: [''], served: false },
  { sent: [], served: false },
  { sent: ['localhost:4100', 'localhost:4100'], served: false },
  { sent: ['localhost:4100', 'evil.example'], served: false },
]

const ORIGINS: Readonly<Record<string, string | null>> = {
  none: null,
  localhost: 'http://localhost:4100',
  address: 'http://127.0.0.1:4100',
  'address 6': 'http://[::1]:4100',
  name: 'http://sheet.example',
  'name over TLS': 'https://sheet.example',
  'another port': 'http://localhost:4102',
  'a stranger': 'http://evil.example',
  'a stranger on our port': 'http://evil.example:4100',
  opaque: 'null',
  empty: '',
}

/** The values of Sec-Fetch-Site, and whether the request is then from another site or origin. */
const SITES: readonly [value: string | null, foreign: boolean][] = [
  [null, false],
  ['none', false],
  ['same-origin', false],
  ['same-site', true],
  ['cross-site', true],
]

/** Sec-Fetch-Mode and Sec-Fetch-Dest, and whether somebody then follows a link in a window. */
const FETCHES: readonly [mode: string | null, dest: string | null, link: boolean][] = [
  [null, null, false],
  ['navigate', 'document', true],
  ['navigate', 'iframe', false],
  ['navigate', null, false],
  ['cors', 'document', false],
  ['cors', 'empty', false],
  ['no-cors', 'image', false],
  ['websocket', 'websocket', false],
]

/** A request without what says where it comes from. */
interface Target {
  readonly method: string
  readonly path: string
  /** Whether the path is outside `/api` and `/events`. */
  readonly page: boolean
  readonly body?: object
}

const STRAY: readonly Target[] = [
  ...['/', '/index.html', '/nowhere', '/apix', '/eventsource', '/x/api/records', '/api%2frecords'].map(
    (path) => ({
      method: 'GET',
      path,
      page: true,
    }),
  ),
  ...['/api', '/api/', '/api/nowhere', '/%61pi/records', '/api/records/%ff', '/events/', '/events?x=1'].map(
    (path) => ({ method: 'GET', path, page: false }),
  ),
  { method: 'POST', path: '/nowhere', page: true },
  { method: 'HEAD', path: '/nowhere', page: true },
  { method: 'OPTIONS', path: '/nowhere', page: true },
]

/** Bodies with which the routes that write do write. */
const BODIES: Readonly<Record<string, object>> = {
  '/api/records': { actor: 'agent:matrix', records: [{ id: 'planted', title: 'Planted' }] },
  '/api/query': { sql: 'SELECT id FROM records' },
  '/api/materialize': { actor: 'agent:matrix', force: true, record_ids: ['b'] },
  '/api/revert': { actor: 'agent:matrix', record_id: 'a', field: 'price', seq: 1 },
}

const QUERIES: Readonly<Record<string, string>> = {
  'DELETE /api/records': '?ids=c',
  'GET /api/provenance': '?record_id=a&field=title',
}

/** Every route, and every path of one with methods that it lacks and the preflight that a browser sends. */
function targetsOf(routes: readonly AppRoute[]): Target[] {
  const paths = [...new Set(routes.map(({ path }) => path))]
  const lacking = paths.flatMap((path) => ['OPTIONS', 'PATCH'].map((method) => ({ method, path })))
  return [...routes, ...lacking].map(({ method, path }) => ({
    method,
    path: path.replaceAll(/:\w+/g, 'a') + (QUERIES[`${method} ${path}`] ?? ''),
    page: !path.startsWith('/api/') && path !== '/events',
    ...(method === 'POST' && { body: BODIES[path] ?? { actor: 'agent:matrix' } }),
  }))
}

interface Case {
  readonly about: string
  readonly target: Target
  readonly sent: SentRequest
  /** Whether D38 refuses it. */
  readonly refused: boolean
}

function makeCase(target: Target, from: Combination): Case {
  const { host, origin, site, fetch } = from
  const [siteValue, foreign] = site
  const [mode, dest, link] = fetch
  const rules = [
    host.served,
    origin === 'none' || (host.pages ?? []).includes(origin),
    !foreign || (link && target.method === 'GET' && target.page),
  ]
  const optional: [string, string | null | undefined][] = [
    ['Origin', ORIGINS[origin]],
    ['Sec-Fetch-Site', siteValue],
    ['Sec-Fetch-Mode', mode],
    ['Sec-Fetch-Dest', dest],
    // A stranger that has planted the cookie and knows it: nothing but the origin stands against its writes.
    ['Cookie', CSRF.cookie],
    ['X-CSRF-Token', CSRF['x-csrf-token']],
    ['X-Svc-Actor', 'agent:matrix'],
    ['Content-Type', target.body && 'application/json'],
    ['Access-Control-Request-Method', target.method === 'OPTIONS' ? 'DELETE' : null],
  ]
  const headers = [
    ...host.sent.map((value) => ['Host', value] as const),
    ...optional.filter((header): header is [string, string] => typeof header[1] === 'string'),
  ]
  const body = target.body && JSON.stringify(target.body)
  return {
    about: `${target.method} ${target.path} ${JSON.stringify([host.sent, ORIGINS[origin], siteValue, mode, dest])}`,
    target,
    sent: { method: target.method, path: target.path, headers, ...(body !== undefined && { body }) },
    refused: rules.includes(false),
  }
}

interface Combination {
  readonly host: HostCase
  readonly origin: string
  readonly site: (typeof SITES)[number]
  readonly fetch: (typeof FETCHES)[number]
}

const COMBINATIONS: readonly Combination[] = HOSTS.flatMap((host) =>
  Object.keys(ORIGINS).flatMap((origin) =>
    SITES.flatMap((site) => FETCHES.map((fetch) => ({ host, origin, site, fetch }))),
  ),
)

/** Starts an app that also answers to a name, and lists what it can be asked. */
async function startMatrix(t: TestContext): Promise<{
  running: TestApp
  targets: readonly Target[]
  ask: (cases: readonly Case[], check: (one: Case, answer: Answer) => void) => Promise<void>
}> {
  const running = await startApp(t, { app: { allowedHosts: ['sheet.example'] } })
  const routes = listRoutes(running.app)
  const port = await listen(running.app)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  onEnd(t, () => agent.destroy())
  const targets = [...targetsOf(routes), ...STRAY]
  assert.ok(targets.length > 60)
  return {
    running,
    targets,
    async ask(cases, check) {
      const limit = pLimit(8)
      await limit.map(cases, async (one) => check(one, await send({ port, agent }, one.sent)))
    },
  }
}

/** All that a request may have changed. */
async function stateOf({ app }: TestApp): Promise<string[]> {
  const history = '/api/provenance?history=true&record_id='
  const paths = [
    '/api/records',
    '/api/status',
    '/api/runs',
    `${history}a&field=price`,
    `${history}b&field=rate`,
  ]
  return Promise.all(paths.map(async (path) => (await app.inject(path)).body))
}

test('D38: any request from another origin is refused, by any method on any path, and changes nothing', async (t) => {
  const { running, targets, ask } = await startMatrix(t)
  // Every combination of headers meets a request, and every request as many combinations as the next.
  const random = seededRandom(38)
  const cases = COMBINATIONS.map((from) => makeCase(random.pick(targets), from)).filter(
    ({ refused }) => refused,
  )
  for (const target of targets)
    assert.ok(
      cases.some((one) => one.target === target),
      target.path,
    )
  assert.ok(cases.length > 6000)
  const before = await stateOf(running)
  await ask(cases, ({ about, sent }, answer) => {
    assert.equal(answer.status, 403, `${about} -> ${answer.status} ${answer.body}`)
    assert.equal(answer.headers['set-cookie'], undefined, about)
    assertNoCors(answer, about)
    if (sent.method === 'HEAD') return
    const { error } = JSON.parse(answer.body) as { error: { type: string; message: string } }
    assert.equal(error.type, 'PermissionDeniedError', about)
    // Not by the CSRF check, which these requests pass.
    assert.doesNotMatch(error.message, /CSRF/, about)
    assert.doesNotMatch(answer.body, /Apple/, about)
  })
  assert.deepEqual(await stateOf(running), before)
  assert.deepEqual(await running.takeFrames(), [])
})

test("D38: requests of the service's own pages, and of clients that are no pages, are served on every path", async (t) => {
  const { running, targets, ask } = await startMatrix(t)
  const random = seededRandom(38)
  const combinations = COMBINATIONS.filter((from) => {
    const anywhere = { method: 'GET', path: '/', page: true }
    return !makeCase(anywhere, from).refused
  })
  const cases = targets.flatMap((target) =>
    Array.from({ length: 12 }, () => makeCase(target, random.pick(combinations))).filter(
      ({ refused }) => !refused,
    ),
  )
  for (const target of targets)
    assert.ok(
      cases.some((one) => one.target === target),
      target.path,
    )
  assert.ok(cases.length > 600)
  const seen = new Map<string, number>()
  await ask(cases, ({ about, target, sent }, answer) => {
    assert.ok(answer.status !== 403 && answer.status < 500, `${about} -> ${answer.status} ${answer.body}`)
    assertNoCors(answer, about)
    seen.set(`${target.method} ${target.path}`, answer.status)
    if (answer.status === 200 || sent.method === 'HEAD') return
    const { error } = JSON.parse(answer.body) as { error: { type: string; message: string } }
    assert.ok(error.type !== '' && error.message !== '', about)
  })
  // The requests with which the first test changes nothing do change something when they may.
  for (const name of [
    'POST /api/records',
    'DELETE /api/records?ids=c',
    'POST /api/materialize',
    'POST /api/revert',
  ]) {
    assert.equal(seen.get(name), 200, name)
  }
  const { records } = (await running.app.inject('/api/records')).json<{ records: { id: string }[] }>()
  assert.deepEqual(records.map(({ id }) => id).toSorted(), ['a', 'b', 'planted'])
})

test('D38: a link from another site opens pages and nothing else', async (t) => {
  const { targets, ask } = await startMatrix(t)
  const link = FETCHES.find(([, , isLink]) => isLink) ?? assert.fail()
  const cases = targets.flatMap((target) =>
    SITES.filter(([, foreign]) => foreign).map((site) =>
      makeCase(target, { host: HOSTS[0] ?? assert.fail(), origin: 'none', site, fetch: link }),
    ),
  )
  const led = new Set<string>()
  await ask(cases, ({ about, target, refused }, answer) => {
    assert.equal(answer.status === 403, refused, `${about} -> ${answer.status} ${answer.body}`)
    if (!refused) led.add(`${target.method} ${target.path}`)
  })
  assert.ok(led.has('GET /') && led.has('GET /apix') && !led.has('GET /api') && !led.has('POST /nowhere'))
})

function assertNoCors({ headers }: Answer, about: string): void {
  const cors = Object.keys(headers).filter((name) => name.startsWith('access-control'))
  assert.deepEqual(cors, [], about)
}
