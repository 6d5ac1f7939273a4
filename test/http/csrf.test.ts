import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { runScenarios, startApp } from '../support/http-fixture.ts'

const TOKEN = 'A-_'.repeat(14) + 'z'
const OTHER = 'B-_'.repeat(14) + 'z'

const READS: readonly InjectOptions[] = [
  { url: '/api/csrf' },
  { url: '/api/contract' },
  { url: '/api/records' },
  { method: 'HEAD', url: '/api/records' },
  { url: '/api/records/a' },
  { url: '/api/records/nobody' },
  { url: '/api/records?limit=0' },
  { method: 'POST', url: '/api/query', payload: { sql: 'SELECT 1 AS one' } },
  { method: 'POST', url: '/api/query', payload: { sql: 7 } },
  { url: '/api/status' },
  { url: '/api/provenance?record_id=a&field=title' },
  { url: '/api/nowhere' },
  { url: '/api/records/%ff' },
  { method: 'OPTIONS', url: '/api/records' },
  { url: '/events?since=1' },
]

test('D37: every response to a read sets a new cookie if none arrives, and all differ', async (t) => {
  const { app } = await startApp(t)
  const seen = new Set<string>()
  for (const request of READS) {
    const { headers } = await app.inject(request)
    const cookie = String(headers['set-cookie'])
    assert.match(cookie, /^svc_csrf=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Strict$/, String(request.url))
    seen.add(cookie)
  }
  assert.equal(seen.size, READS.length)
})

test('D37: an arriving cookie of 43 base64url characters is kept, so that open pages survive a restart', async (t) => {
  const { app } = await startApp(t)
  for (const request of READS) {
    const { headers } = await app.inject({ ...request, headers: { cookie: `theme=dark; svc_csrf=${TOKEN}` } })
    assert.equal(headers['set-cookie'], `svc_csrf=${TOKEN}; Path=/; SameSite=Strict`, String(request.url))
  }
})

test('D37: an arriving cookie of another form is replaced', async (t) => {
  const { app } = await startApp(t)
  for (const value of ['', 'short', `${TOKEN}x`, `${TOKEN.slice(1)}+`, `"${TOKEN.slice(2)}"`]) {
    const { headers } = await app.inject({ url: '/api/csrf', headers: { cookie: `svc_csrf=${value}` } })
    assert.match(String(headers['set-cookie']), /^svc_csrf=[A-Za-z0-9_-]{43};/)
    assert.ok(!String(headers['set-cookie']).includes(`svc_csrf=${value};`))
  }
})

test('GET /api/csrf returns the token of the cookie that it sets', async (t) => {
  const { app } = await startApp(t)
  const fresh = await app.inject({ url: '/api/csrf' })
  const { csrf_token: token } = fresh.json<{ csrf_token: string }>()
  assert.match(token, /^[A-Za-z0-9_-]{43}$/)
  assert.equal(fresh.headers['set-cookie'], `svc_csrf=${token}; Path=/; SameSite=Strict`)
  const kept = await app.inject({ url: '/api/csrf', headers: { cookie: `svc_csrf=${TOKEN}` } })
  assert.deepEqual(kept.json(), { csrf_token: TOKEN })
})

const WRITES: readonly InjectOptions[] = [
  { method: 'POST', url: '/api/records', payload: { records: [], actor: 'agent:test' } },
  { method: 'DELETE', url: '/api/records?ids=a' },
  { method: 'POST', url: '/api/materialize', payload: { actor: 'agent:test' } },
]

const REFUSED: Readonly<Record<string, Record<string, string>>> = {
  'neither header nor cookie': {},
  'no cookie': { 'x-csrf-token': TOKEN },
  'no header': { cookie: `svc_csrf=${TOKEN}` },
  'header and cookie that differ': { 'x-csrf-token': OTHER, cookie: `svc_csrf=${TOKEN}` },
  'header and cookie of different length': { 'x-csrf-token': 'short', cookie: `svc_csrf=${TOKEN}` },
  'empty header and cookie': { 'x-csrf-token': '', cookie: 'svc_csrf=' },
  'a cookie of another name': { 'x-csrf-token': TOKEN, cookie: `csrf=${TOKEN}` },
  'two headers': { 'x-csrf-token': `${TOKEN}, ${TOKEN}`, cookie: `svc_csrf=${TOKEN}` },
}

runScenarios(
  'D37: writes without a valid token',
  WRITES.flatMap((request) =>
    Object.entries(REFUSED).map(([what, headers]) => ({
      name: `${request.method} ${String(request.url)} with ${what} is a 403 and does nothing`,
      request: { ...request, headers },
      status: 403,
      error: ['PermissionDeniedError', /^CSRF token missing or invalid$/] as const,
    })),
  ),
)

test('D37: a write checks nothing more than that header and cookie are equal, and sets no cookie', async (t) => {
  const { app } = await startApp(t)
  const headers = { 'x-csrf-token': 'any%20text', cookie: 'other=1; svc_csrf=any%20text' }
  const { statusCode, headers: answered } = await app.inject({
    method: 'DELETE',
    url: '/api/records?ids=a',
    headers: { ...headers, 'x-svc-actor': 'agent:test' },
  })
  assert.equal(statusCode, 200)
  assert.equal(answered['set-cookie'], undefined)
})
