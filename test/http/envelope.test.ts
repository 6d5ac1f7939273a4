import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { ERROR_TYPES } from '../../src/errors/codes.ts'
import { CSRF, startApp } from '../support/http-fixture.ts'

const ROUTES: readonly InjectOptions[] = [
  { method: 'GET', url: '/api/csrf' },
  { method: 'GET', url: '/api/contract' },
  { method: 'GET', url: '/api/records' },
  { method: 'GET', url: '/api/records/a' },
  { method: 'POST', url: '/api/records' },
  { method: 'DELETE', url: '/api/records?ids=a' },
  { method: 'POST', url: '/api/query' },
  { method: 'GET', url: '/api/status' },
  { method: 'POST', url: '/api/materialize' },
  { method: 'GET', url: '/api/provenance?record_id=a&field=title' },
  { method: 'GET', url: '/events' },
]

const json = { 'content-type': 'application/json' }

/** Defects of any request, each with the possible statuses. */
const FAULTS: readonly [what: string, fault: (route: InjectOptions) => InjectOptions, statuses: number[]][] =
  [
    ['a strange host', (route) => ({ ...route, headers: { ...CSRF, host: 'evil.example' } }), [403]],
    ['a strange origin', (route) => ({ ...route, headers: { ...CSRF, origin: 'null' } }), [403]],
    ['another site', (route) => ({ ...route, headers: { ...CSRF, 'sec-fetch-site': 'cross-site' } }), [403]],
    ['an unknown parameter', (route) => withQuery(route, 'colour=red'), [400]],
    ['a bad parameter', (route) => withQuery(route, '%ff=1'), [400]],
    ['a long URL', (route) => withQuery(route, `x=${'y'.repeat(70_000)}`), [414]],
    ['an unknown path', (route) => ({ ...route, url: `/nowhere${String(route.url)}` }), [404]],
    ['a bad path', (route) => ({ ...route, url: `/%ff${String(route.url)}` }), [400]],
    ['PATCH', (route) => ({ ...route, method: 'PATCH', headers: CSRF }), [405]],
    [
      'PUT',
      (route) => ({ ...route, method: 'PUT', payload: '{', headers: { ...CSRF, ...json } }),
      [400, 405],
    ],
    ['OPTIONS', (route) => ({ ...route, method: 'OPTIONS' }), [405]],
    ['PROPFIND', (route) => ({ ...route, method: 'PROPFIND' }), [405]],
    ['no CSRF token', (route) => ({ ...route, method: 'DELETE' }), [403, 405]],
    ['a body that is no JSON', (route) => asPost(route, '{', json), [400, 405]],
    ['a body of the wrong type', (route) => asPost(route, 'x', { 'content-type': 'text/plain' }), [405, 415]],
    ['too large a body', (route) => asPost(route, `"${'x'.repeat(2000)}"`, json), [405, 413]],
  ]

test('D36: any error on any path is an error envelope', async (t) => {
  const { app, takeFrames, logged } = await startApp(t, { app: { bodyLimit: 1000 } })
  for (const route of ROUTES) {
    for (const [what, fault, statuses] of FAULTS) {
      const request = fault(route)
      const response = await app.inject(request)
      const about = `${what}: ${request.method} ${String(request.url).slice(0, 60)} -> ${response.statusCode}`
      assert.ok(statuses.includes(response.statusCode), about)
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8', about)
      assert.equal(response.headers['x-content-type-options'], 'nosniff', about)
      assert.equal(response.headers['cache-control'], 'private, no-cache', about)
      const body = response.json<{ error: { type: string; message: string } }>()
      assert.deepEqual(Object.keys(body), ['error'], about)
      assert.deepEqual(Object.keys(body.error), ['type', 'message'], about)
      assert.ok(
        ERROR_TYPES.some((type) => type === body.error.type),
        about,
      )
      assert.ok(body.error.message.length > 0 && body.error.message.length < 1000, about)
    }
  }
  assert.deepEqual(await takeFrames(), [])
  assert.deepEqual(logged, [])
})

test('D36: a wrong method is a 405 with the allowed ones in Allow; HEAD is allowed wherever GET is', async (t) => {
  const { app } = await startApp(t)
  const allow: Record<string, string> = {
    '/api/csrf': 'GET, HEAD',
    '/api/contract': 'GET, HEAD, PUT',
    '/api/records': 'DELETE, GET, HEAD, POST',
    '/api/records/a': 'GET, HEAD',
    '/api/query': 'POST',
    '/api/status': 'GET, HEAD',
    '/api/materialize': 'POST',
    '/api/provenance': 'GET, HEAD',
    '/events': 'GET, HEAD',
  }
  for (const [url, methods] of Object.entries(allow)) {
    for (const method of ['PATCH', 'OPTIONS', 'TRACE']) {
      const response = await app.inject({ method: method as 'PATCH', url })
      assert.equal(response.statusCode, 405, `${method} ${url}`)
      assert.equal(response.headers.allow, methods, url)
      assert.equal(response.json<{ error: { type: string } }>().error.type, 'OperationError')
    }
  }
})

test('an internal error is a 500 without details, and is logged with its stack', async (t) => {
  const { app, sheet, logged } = await startApp(t)
  sheet.current = () => Promise.reject(new Error('secret detail'))
  const response = await app.inject({ url: '/api/records/a' })
  assert.equal(response.statusCode, 500)
  assert.deepEqual(response.json(), { error: { type: 'ServiceError', message: 'internal error' } })
  assert.equal(logged.length, 1)
  const { err } = logged[0]!.details as { err: Error }
  assert.match(String(err.stack), /secret detail/)
})

test('D36: a message that quotes part of a long text does not divide a character', async (t) => {
  const { app } = await startApp(t)
  const long = ['', 'x'].map((odd) => odd + '😀'.repeat(300))
  const paths = long.map((text): InjectOptions => ({ url: `/${encodeURIComponent(text)}` }))
  const members = long.map((text) => asPost({ url: '/api/query' }, JSON.stringify({ [text]: 1 }), json))
  for (const request of [...paths, ...members]) {
    const { error } = (await app.inject(request)).json<{ error: { message: string } }>()
    assert.ok(error.message.isWellFormed(), error.message)
  }
})

function withQuery(route: InjectOptions, query: string): InjectOptions {
  const url = String(route.url)
  return { ...route, url: `${url}${url.includes('?') ? '&' : '?'}${query}`, headers: CSRF }
}

function asPost(route: InjectOptions, payload: string, headers: Record<string, string>): InjectOptions {
  return {
    method: 'POST',
    url: String(route.url).replace(/\?.*/, ''),
    payload,
    headers: { ...CSRF, ...headers },
  }
}
