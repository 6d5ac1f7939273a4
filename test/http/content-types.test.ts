import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { listRoutes } from '../support/app-routes.ts'
import { assertEnvelope, CSRF, listen, startApp } from '../support/http-fixture.ts'
import { exchange } from '../support/raw-client.ts'

/** A body that each route with one would take, so that the content type alone is what stands against it. */
const BODIES: Readonly<Record<string, object>> = {
  '/api/records': { actor: 'agent:test', records: [{ id: 'planted', title: 'Planted' }] },
  '/api/query': { sql: 'SELECT 1 AS one' },
  '/api/materialize': { actor: 'agent:test', force: true },
  '/api/revert': { actor: 'agent:test', record_id: 'a', field: 'title', seq: 1 },
}

/** Types that are not JSON. The first three are all that a page of another origin can send without asking first. */
const OTHERS = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain; application/json',
  'text/plain;charset=application/json',
  'text/plain, application/json',
  'application/json, text/plain',
  'application/json, application/json',
  'multipart/form-data; boundary=application/json',
  'application/x-www-form-urlencoded; x="application/json"',
  'application/jsonx',
  'application/json-seq',
  'application/json5',
  'application/ld+json',
  'application/json+x',
  'xapplication/json',
  'application/json/x',
  'application /json',
  'application/ json',
  'application/*',
  '*/*',
  'text/json',
  'json',
  'application',
  '/json',
  ';application/json',
  'application/json\u00a0',
  'application/j\u017fon',
] as const

const SPELLINGS = [
  'application/json',
  'APPLICATION/JSON',
  'Application/Json; Charset=UTF-8',
  'application/json;charset="utf-8"',
  'application/json ; charset=utf8',
  '\tapplication/json ',
] as const

test('D36: a body of any content type but JSON is a 415, on every route with a body, and does nothing', async (t) => {
  const { app, takeFrames } = await startApp(t)
  const routes = listRoutes(app)
  await app.ready()
  const before = await history(app)
  const paths = routes
    .filter(({ method, path }) => method === 'POST' && !path.startsWith('/api/import'))
    .map(({ path }) => path)
  assert.deepEqual(
    Object.keys(BODIES).filter((path) => !paths.includes(path)),
    [],
  )
  for (const path of paths) {
    const url = path.replaceAll(/:\w+/g, 'a')
    for (const type of OTHERS) {
      const payload = JSON.stringify(BODIES[path] ?? { actor: 'agent:test' })
      const headers = { ...CSRF, 'content-type': Buffer.from(type).toString('latin1') }
      const response = await app.inject({ method: 'POST', url, payload, headers })
      assert.equal(response.statusCode, 415, `${path} as ${type}: ${response.body}`)
      assertEnvelope(response, 'ValidationError', /send application\/json/)
    }
  }
  assert.deepEqual(await takeFrames(), [])
  assert.deepEqual(await history(app), before)
})

test('D36: JSON is JSON in any spelling of its content type', async (t) => {
  const { app } = await startApp(t)
  for (const type of SPELLINGS) {
    const request: InjectOptions = { method: 'POST', url: '/api/query', headers: { 'content-type': type } }
    const response = await app.inject({ ...request, payload: JSON.stringify(BODIES['/api/query']) })
    assert.equal(response.statusCode, 200, `${type}: ${response.body}`)
  }
})

test('D36: a body without a content type, or with two, is a 415 unless the first is JSON', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const body = JSON.stringify(BODIES['/api/query'])
  const message = (...types: readonly string[]): string =>
    [
      'POST /api/query HTTP/1.1',
      'Host: localhost',
      `Content-Length: ${body.length}`,
      ...types.map((type) => `Content-Type: ${type}`),
      '',
      body,
    ].join('\r\n')
  for (const types of [[], [''], ['text/plain', 'application/json'], ['text/plain', 'text/plain']]) {
    const { status } = await exchange(t, port, message(...types))
    assert.equal(status, 415, types.join(' and '))
  }
  // Node drops the second; a browser cannot send two.
  const { status } = await exchange(t, port, message('application/json', 'text/plain'))
  assert.equal(status, 200)
})

async function history(app: { inject(url: string): Promise<{ body: string }> }): Promise<string[]> {
  const paths = ['/api/records', '/api/runs', '/api/provenance?record_id=a&field=title&history=true']
  return Promise.all(paths.map(async (path) => (await app.inject(path)).body))
}
