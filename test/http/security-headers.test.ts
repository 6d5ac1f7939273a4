import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { listRoutes } from '../support/app-routes.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { exchange, RawClient } from '../support/raw-client.ts'

/** Written out once more, so that a change of the product's own list is noticed. */
const EXPECTED = {
  'cache-control': 'private, no-cache',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const json = { 'content-type': 'application/json' }

/** Requests beside those of the routes, for answers of every kind. */
const OTHERS: readonly [request: InjectOptions, status: number][] = [
  [{ url: '/' }, 404],
  [{ url: '/api/nowhere' }, 404],
  [{ url: '/api/records/%ff' }, 400],
  [{ url: '/api/records?limit=0' }, 400],
  [{ url: '/api/records/nobody' }, 404],
  [{ url: '/api/records', headers: { host: 'evil.example' } }, 403],
  [{ url: '/nowhere', headers: { host: 'evil.example' } }, 403],
  [{ url: '/%ff', headers: { host: 'evil.example' } }, 403],
  [{ url: '/api/records', headers: { origin: 'http://evil.example' } }, 403],
  [{ method: 'DELETE', url: '/api/records?ids=a' }, 403],
  [{ method: 'OPTIONS', url: '/api/records' }, 405],
  [{ method: 'PUT', url: '/api/records' }, 405],
  [{ method: 'POST', url: '/api/query', payload: '{', headers: json }, 400],
  [{ method: 'POST', url: '/api/query', payload: 'x', headers: { 'content-type': 'text/plain' } }, 415],
  [{ method: 'POST', url: '/api/query', payload: 'x'.repeat(2000), headers: json }, 413],
  [{ url: `/api/records?filter=${'x'.repeat(70_000)}` }, 414],
]

test('every route and every kind of refusal has the security headers, and no CORS headers', async (t) => {
  const { app } = await startApp(t, { app: { bodyLimit: 1000 } })
  const routes = listRoutes(app)
  await app.ready()
  const requests: [request: InjectOptions, status: number | null][] = [...OTHERS]
  for (const { method, path } of routes) {
    if (path.endsWith('/events')) continue // see below
    const url = path.replaceAll(/:\w+/g, 'a')
    requests.push([{ method, url, headers: { ...CSRF, origin: 'http://localhost:80' } }, null])
  }
  assert.ok(routes.length > 20)
  for (const [request, status] of requests) {
    const response = await app.inject(request)
    const about = `${request.method ?? 'GET'} ${String(request.url).slice(0, 60)} -> ${response.statusCode}`
    if (status !== null) assert.equal(response.statusCode, status, about)
    // A page, with a policy of its own; see below.
    const own =
      request.url === '/docs' ? { 'content-security-policy': EXPECTED['content-security-policy'] } : {}
    assertSecured({ ...response.headers, ...own }, about)
  }
})

test('the documentation allows its own style and nothing else', async (t) => {
  const { app } = await startApp(t)
  const { headers, body } = await app.inject({ url: '/docs' })
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(body) ?? []
  const digest = createHash('sha256').update(style).digest('base64')
  assert.equal(
    headers['content-security-policy'],
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  assert.doesNotMatch(body, /<script|style=|\son\w+=|javascript:/)
})

test('an internal error has the security headers', async (t) => {
  const { app, sheet } = await startApp(t)
  sheet.current = () => Promise.reject(new Error('a bug'))
  const response = await app.inject({ url: '/api/records/a' })
  assert.equal(response.statusCode, 500)
  assertSecured(response.headers, 'a bug')
})

test('an event stream has the security headers', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const run = await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { actor: 'agent:test' },
  })
  assert.equal(run.statusCode, 200)
  const { runs } = (await app.inject({ url: '/api/runs' })).json<{ runs: { id: string }[] }>()
  for (const path of ['/events', `/api/runs/${runs[0]?.id}/events`]) {
    const client = await RawClient.open(t, port)
    client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const text = await client.waitFor((received) => received.includes('\r\n\r\n'))
    assert.match(text, /^HTTP\/1\.1 200 /)
    assertSecured(headersOf(text), path)
    client.socket.destroy()
  }
})

const MESSAGES: readonly [message: string, status: number][] = [
  ['garbage\r\n\r\n', 400],
  ['GET /api/csrf HTTP/1.1\r\nBad Header: x\r\n\r\n', 400],
  ['DESCRIBE /api/csrf RTSP/1.0\r\nHost: localhost\r\n\r\n', 400],
  [`GET / HTTP/1.1\r\nHost: localhost\r\nX-Big: ${'x'.repeat(300_000)}\r\n\r\n`, 431],
  ['GET /api/csrf HTTP/1.1\r\n\r\n', 403],
  ['GET /api/csrf HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 403],
  ['OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ['TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ['CONNECT a.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
  [
    'GET /events HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nOrigin: http://evil.example\r\n\r\n',
    403,
  ],
]

test('requests that the HTTP parser refuses, and CONNECT, get the security headers too', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  for (const [message, status] of MESSAGES) {
    const answer = await exchange(t, port, message)
    const about = message.slice(0, 60)
    assert.equal(answer.status, status, about)
    assertSecured(headersOf(answer.headers), about)
  }
})

test('a page may have its own policy and keeps the other headers', async (t) => {
  const { app } = await startApp(t)
  const policy = "default-src 'self'; frame-ancestors 'none'"
  app.get('/page', (_request, reply) =>
    reply.header('content-security-policy', policy).type('text/html').send(''),
  )
  const { headers } = await app.inject({ url: '/page' })
  assert.equal(headers['content-security-policy'], policy)
  assertSecured({ ...headers, 'content-security-policy': EXPECTED['content-security-policy'] }, 'page')
})

function assertSecured(headers: Readonly<Record<string, unknown>>, about: string): void {
  const found = Object.keys(EXPECTED).map((name) => [name, headers[name]])
  assert.deepEqual(Object.fromEntries(found), EXPECTED, about)
  const cors = Object.keys(headers).filter((name) => name.startsWith('access-control'))
  assert.deepEqual(cors, [], about)
}

/** The headers of a message, lower-case; one that is there twice is joined, so that it equals nothing. */
function headersOf(message: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n').slice(1)) {
    const [name = '', value = ''] = line.split(/: (.*)/)
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  return headers
}
