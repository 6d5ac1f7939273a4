import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertEnvelope, startApp } from '../support/http-fixture.ts'

const HOSTS: readonly [host: string, passes: boolean][] = [
  ['localhost', true],
  ['localhost:3000', true],
  ['LOCALHOST:1', true],
  ['127.0.0.1:3000', true],
  ['10.1.2.3', true],
  ['[::1]:3000', true],
  ['[::1]', true],
  ['[fe80::1%25lo]', false],
  ['[::ffff:127.0.0.1]', true],
  ['sheet.example', true],
  ['Sheet.Example:8443', true],
  ['evil.example', false],
  ['evil.example:3000', false],
  ['localhost.evil.example', false],
  ['evil.localhost', false],
  ['127.0.0.1.evil.example', false],
  ['127.1', false],
  ['2130706433', false],
  ['0x7f.0.0.1', false],
  ['::1', false],
  ['[::1', false],
  ['[not-an-address]', false],
  ['localhost:port', false],
  ['localhost:', false],
  ['localhost:3000:3000', false],
  ['user@localhost', false],
  ['localhost/evil.example', false],
  ['localhost,evil.example', false],
]

test('D38: the Host header must name localhost, an IP literal or an allowed host, whatever its port', async (t) => {
  const { app } = await startApp(t, { app: { allowedHosts: ['127.0.0.1', 'sheet.example'] } })
  for (const [host, passes] of HOSTS) {
    for (const url of ['/api/csrf', '/api/nowhere', '/nowhere', '/api/records/%ff']) {
      const response = await app.inject({ url, headers: { host } })
      assert.equal(response.statusCode !== 403, passes, `${host} ${url} ${response.statusCode}`)
      if (!passes) {
        assertEnvelope(response, 'PermissionDeniedError', /host/)
        // A page that rebound its name to this address shall not be given a token.
        assert.equal(response.headers['set-cookie'], undefined)
      }
    }
  }
})

const ORIGINS: readonly [origin: string, host: string, passes: boolean][] = [
  ['http://127.0.0.1:3000', '127.0.0.1:3000', true],
  ['http://localhost:3000', 'localhost:3000', true],
  ['http://LOCALHOST:3000', 'localhost:3000', true],
  ['http://[::1]:3000', '[::1]:3000', true],
  ['http://[::1]:3000', '[0:0:0:0:0:0:0:1]:3000', true],
  ['http://localhost', 'localhost', true],
  ['http://localhost', 'localhost:80', true],
  ['https://localhost', 'localhost', true],
  ['https://localhost', 'localhost:443', true],
  ['https://localhost', 'localhost:80', false],
  ['http://localhost:3001', 'localhost:3000', false],
  ['http://localhost', 'localhost:3000', false],
  ['http://127.0.0.1:3000', 'localhost:3000', false],
  ['http://evil.example', 'localhost', false],
  ['http://evil.example:3000', 'localhost:3000', false],
  ['http://localhost.evil.example', 'localhost', false],
  ['null', 'localhost', false],
  ['', 'localhost', false],
  ['file://', 'localhost', false],
  ['chrome-extension://localhost', 'localhost', false],
  ['http://localhost/', 'localhost', false],
  ['http://user@localhost', 'localhost', false],
  ['http://localhost http://evil.example', 'localhost', false],
]

test('D38: an Origin must have the host and port of Host, on reads, writes and unknown paths', async (t) => {
  const { app } = await startApp(t)
  for (const [origin, host, passes] of ORIGINS) {
    for (const request of [
      { url: '/api/csrf' },
      { url: '/nowhere' },
      { method: 'DELETE' as const, url: '/api/records?ids=a' },
      { method: 'OPTIONS' as const, url: '/api/records' },
    ]) {
      const response = await app.inject({ ...request, headers: { host, origin } })
      const refused =
        response.json<{ error?: { message: string } }>().error?.message.includes('pages of') ?? false
      assert.equal(refused, !passes, `${origin} at ${host}: ${response.statusCode} ${response.body}`)
      if (refused) assertEnvelope(response, 'PermissionDeniedError', /pages of/)
      if (refused) assert.equal(response.statusCode, 403)
    }
  }
})

const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

const FETCHES: readonly [
  what: string,
  method: 'GET' | 'POST',
  url: string,
  headers: object,
  passes: boolean,
][] = [
  ['no mark at all', 'GET', '/api/csrf', {}, true],
  ['the page itself', 'GET', '/api/csrf', { 'sec-fetch-site': 'same-origin' }, true],
  ['a typed address', 'GET', '/api/csrf', { 'sec-fetch-site': 'none', ...navigation }, true],
  ['another site', 'GET', '/api/csrf', { 'sec-fetch-site': 'cross-site' }, false],
  ['another port', 'GET', '/api/csrf', { 'sec-fetch-site': 'same-site' }, false],
  ['another site, a query', 'POST', '/api/query', { 'sec-fetch-site': 'cross-site' }, false],
  ['another site, the stream', 'GET', '/events?x', { 'sec-fetch-site': 'cross-site' }, false],
  [
    'a link to the interface',
    'GET',
    '/api/records',
    { 'sec-fetch-site': 'cross-site', ...navigation },
    false,
  ],
  [
    'a link to it, encoded',
    'GET',
    '/%61pi/records',
    { 'sec-fetch-site': 'cross-site', ...navigation },
    false,
  ],
  ['a link below it', 'GET', '/api/nowhere', { 'sec-fetch-site': 'cross-site', ...navigation }, false],
  ['a link to the stream', 'GET', '/events', { 'sec-fetch-site': 'same-site', ...navigation }, false],
  ['a link to a page', 'GET', '/page', { 'sec-fetch-site': 'cross-site', ...navigation }, true],
  ['a link to the start', 'GET', '/', { 'sec-fetch-site': 'same-site', ...navigation }, true],
  ['a form to a page', 'POST', '/page', { 'sec-fetch-site': 'cross-site', ...navigation }, false],
  [
    'a frame of a page',
    'GET',
    '/page',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    false,
  ],
  [
    'a script from a page',
    'GET',
    '/page.js',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    false,
  ],
]

test('D38: requests that the browser marks as cross-site or same-site are refused, except links to pages', async (t) => {
  const { app } = await startApp(t)
  for (const [what, method, url, headers, passes] of FETCHES) {
    const response = await app.inject({ method, url, headers: { ...headers } })
    assert.equal(response.statusCode !== 403, passes, `${what}: ${response.statusCode} ${response.body}`)
    if (!passes) assertEnvelope(response, 'PermissionDeniedError', /browser marks/)
  }
})

test('D36: host and origin are checked before CSRF', async (t) => {
  const { app } = await startApp(t)
  const request = { method: 'DELETE' as const, url: '/api/records?ids=a', headers: { host: 'evil.example' } }
  assertEnvelope(await app.inject(request), 'PermissionDeniedError', /evil\.example/)
})

test('the service sends no CORS headers', async (t) => {
  const { app } = await startApp(t)
  const headers = { host: 'localhost', origin: 'http://localhost', 'access-control-request-method': 'DELETE' }
  for (const method of ['GET', 'OPTIONS'] as const) {
    const response = await app.inject({ method, url: '/api/records', headers })
    const cors = Object.keys(response.headers).filter((name) => name.startsWith('access-control'))
    assert.deepEqual(cors, [])
  }
})
