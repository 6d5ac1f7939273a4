import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { createApp } from '../../src/http/app.ts'
import { listRoutes } from '../support/app-routes.ts'
import { CSRF, startApp } from '../support/http-fixture.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { editSheet, writeSheet } from '../support/sheet-fixture.ts'

const LARGE = { id: 'a', title: 'Apple'.repeat(400) }

function upsert(app: FastifyInstance, record: object): Promise<LightMyRequestResponse> {
  const payload = { actor: 'agent:test', records: [record] }
  return app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
}

/** The tag of an answer, which must be a 200. */
async function tagOf(app: FastifyInstance, url: string, headers = {}): Promise<string> {
  const response = await app.inject({ url, headers })
  assert.equal(response.statusCode, 200, `${url}: ${response.body}`)
  assert.equal(typeof response.headers.etag, 'string', url)
  return String(response.headers.etag)
}

async function statusFor(app: FastifyInstance, url: string, seen: string, headers = {}): Promise<number> {
  return (await app.inject({ url, headers: { ...headers, 'if-none-match': seen } })).statusCode
}

test('every read has an ETag, and is a 304 without a body for a client that has it, except the CSRF token and streams', async (t) => {
  const { app } = await startApp(t)
  const routes = listRoutes(app)
  await app.ready()
  let seen = 0
  for (const { method, path } of routes) {
    if (method !== 'GET' || path.endsWith('/events')) continue
    const url = path.replace(':target/:record_id', 'rate/a').replace(/:\w+/, 'a')
    const query =
      path === '/api/provenance' ? '?record_id=a&field=title' : path.startsWith('/api/cells') ? '?ids=a' : ''
    const first = await app.inject({ url: url + query })
    if (first.statusCode !== 200) continue
    if (path === '/api/csrf') {
      assert.equal(first.headers.etag, undefined)
      assert.equal(await statusFor(app, url, '*'), 200)
      continue
    }
    for (const verb of ['GET', 'HEAD'] as const) {
      const headers = { 'if-none-match': String(first.headers.etag) }
      const again = await app.inject({ method: verb, url: url + query, headers })
      assert.equal(again.statusCode, 304, `${verb} ${path}`)
      assert.equal(again.body, '')
      assert.equal(again.headers.etag, first.headers.etag)
      assert.equal(again.headers['content-length'], undefined, `${verb} ${path}`)
      assert.equal(again.headers['content-type'], undefined)
      assert.equal(again.headers.vary, first.headers.vary, `${verb} ${path}`)
    }
    assert.equal(await statusFor(app, url + query, '"other"'), 200, path)
    seen++
  }
  assert.ok(seen >= 10, `${seen} routes`)
})

test('the ETag of a page changes when a record changes, and when a record follows it', async (t) => {
  const { app } = await startApp(t)
  const url = '/api/records?limit=3'
  const before = await tagOf(app, url)
  assert.equal(await tagOf(app, url), before)
  await upsert(app, { id: 'd', title: 'Dill' })
  const longer = await tagOf(app, url)
  assert.notEqual(longer, before)
  await upsert(app, { id: 'a', price: 9 })
  assert.notEqual(await tagOf(app, url), longer)
})

test('the ETag of a record changes when the contract changes, though its version is the same', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const seen = await tagOf(app, '/api/records/a')
  assert.equal(await statusFor(app, '/api/records/a', seen), 304)
  await editSheet(directory, 'contract.yaml', (text) =>
    text.replace('{name: price, logicalType: number}', '$&\n      - {name: weight, logicalType: number}'),
  )
  const response = await app.inject({ url: '/api/records/a', headers: { 'if-none-match': seen } })
  assert.equal(response.statusCode, 200)
  assert.ok('weight' in response.json<object>())
  assert.notEqual(response.headers.etag, seen)
})

test('the same version in a recreated store has another ETag', async (t) => {
  const tags = new Set<string>()
  for (let store = 0; store < 2; store++) tags.add(await tagOf((await startApp(t)).app, '/api/records/a'))
  assert.equal(tags.size, 2)
})

test('RFC 9110 13.1.2: If-None-Match is * or a list, compares weakly, and is ignored where it is malformed', async (t) => {
  const { app } = await startApp(t)
  const url = '/api/records/a'
  const tag = await tagOf(app, url)
  for (const header of ['*', tag, `W/${tag}`, `"x", ${tag}`, `"x",W/${tag} ,"y"`]) {
    assert.equal(await statusFor(app, url, header), 304, header)
  }
  for (const header of ['"x"', 'W/"x"', tag.slice(1, -1), `${tag}x`, '', '"', '**']) {
    assert.equal(await statusFor(app, url, header), 200, header)
  }
  assert.equal(await statusFor(app, '/api/records/nobody', '*'), 404)
  const write = await app.inject({
    method: 'POST',
    url: '/api/query',
    headers: { 'if-none-match': '*' },
    payload: { sql: 'SELECT 1 AS one' },
  })
  assert.equal(write.statusCode, 200)
})

test('each encoding of a response has its own strong tag, and any of them leads to a 304', async (t) => {
  const { app } = await startApp(t)
  await upsert(app, LARGE)
  const url = '/api/records/a'
  const plain = await tagOf(app, url)
  const gzip = await tagOf(app, url, { 'accept-encoding': 'gzip' })
  const brotli = await tagOf(app, url, { 'accept-encoding': 'br' })
  assert.equal(new Set([plain, gzip, brotli]).size, 3)
  for (const seen of [plain, gzip, brotli]) {
    for (const encoding of ['identity', 'gzip', 'br']) {
      const headers = { 'if-none-match': seen, 'accept-encoding': encoding }
      const { statusCode, headers: told } = await app.inject({ url, headers })
      assert.deepEqual([statusCode, told.etag, told['content-encoding']], [304, seen, undefined])
    }
  }
})
