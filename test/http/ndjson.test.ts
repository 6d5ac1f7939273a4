import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { CSRF, startApp } from '../support/http-fixture.ts'

const NDJSON = 'application/x-ndjson'

function list(app: FastifyInstance, accept: string, query = ''): Promise<LightMyRequestResponse> {
  return app.inject({ url: `/api/records${query}`, headers: { accept } })
}

test('records are one on each line for a client that prefers this to JSON, and JSON otherwise', async (t) => {
  const { app } = await startApp(t)
  const { records } = (await list(app, '')).json<{ records: object[] }>()
  for (const accept of [
    NDJSON,
    'Application/X-NDJSON',
    `${NDJSON}, */*;q=0.1`,
    `${NDJSON}, application/json`,
    `application/json;q=0.5, ${NDJSON}`,
  ]) {
    const { headers, body } = await list(app, accept)
    assert.equal(headers['content-type'], NDJSON, accept)
    assert.equal(body, records.map((record) => `${JSON.stringify(record)}\n`).join(''), accept)
  }
  for (const accept of [
    '',
    '*/*',
    'application/*',
    'text/html',
    `application/json, ${NDJSON}`,
    `${NDJSON};q=0.5, application/json`,
    `${NDJSON};q=0`,
    ';,',
    'x',
  ]) {
    const { statusCode, headers } = await list(app, accept)
    assert.equal(statusCode, 200, accept)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8', accept)
  }
  for (const accept of [NDJSON, '*/*'])
    assert.match(String((await list(app, accept)).headers.vary), /^Accept\b/)
})

test('RFC 8288: the next page is in the header Link, with all parameters, except on the last page', async (t) => {
  const { app } = await startApp(t)
  for (const accept of [NDJSON, 'application/json']) {
    const seen: string[] = []
    let query = '?fields=id&limit=1&filter=title%20%3C%3E%20%27%26%2B%C3%A9%27&sort=-title'
    for (let pages = 0; query !== ''; pages++) {
      assert.ok(pages < 4)
      const { headers, body, statusCode } = await list(app, accept, query)
      assert.equal(statusCode, 200, body)
      seen.push(...[...body.matchAll(/\{"id":"(\w)"\}/g)].map(([, id = '']) => id))
      const [, next = ''] = /^<\/api\/records(\?[^<>"]+)>; rel="next"$/.exec(String(headers.link ?? '')) ?? []
      assert.equal(headers.link === undefined, next === '')
      query = next
    }
    assert.deepEqual(seen, ['c', 'b', 'a'], accept)
  }
})

test('the link of a page that was requested by position continues after it', async (t) => {
  const { app } = await startApp(t)
  const { headers } = await list(app, NDJSON, '?limit=1&position=1')
  const [, next = ''] = /^<\/api\/records(.*)>/.exec(String(headers.link)) ?? []
  assert.equal((await list(app, NDJSON, next)).json<{ id: string }>().id, 'c')
})

test('beside JSON, a link that would make the headers large is left out; with lines it never is', async (t) => {
  const { app } = await startApp(t)
  const query = `?limit=1&filter=${encodeURIComponent(`title <> '${'x'.repeat(3000)}'`)}`
  const json = await list(app, 'application/json', query)
  assert.equal(json.headers.link, undefined)
  assert.equal(typeof json.json<{ next_cursor: string }>().next_cursor, 'string')
  assert.ok(String((await list(app, NDJSON, query)).headers.link).length > 3000)
})

test('lines have a tag, can be a 304, and differ from JSON', async (t) => {
  const { app } = await startApp(t)
  const lines = await list(app, NDJSON)
  const json = await list(app, 'application/json')
  assert.notEqual(lines.headers.etag, json.headers.etag)
  const headers = { accept: NDJSON, 'if-none-match': String(lines.headers.etag) }
  assert.equal((await app.inject({ url: '/api/records', headers })).statusCode, 304)
  await app.inject({
    method: 'DELETE',
    url: '/api/records?ids=a,b,c',
    headers: { ...CSRF, 'x-svc-actor': 'agent:test' },
  })
  const none = await list(app, NDJSON)
  assert.deepEqual([none.statusCode, none.body], [200, ''])
})

test('errors for a client that requests lines are an envelope', async (t) => {
  const { app } = await startApp(t)
  const { headers } = await list(app, NDJSON, '?limit=0')
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
})
