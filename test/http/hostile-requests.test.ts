import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { JSON_DEPTH_LIMIT } from '../../src/sheet/json-body.ts'
import { contractText } from '../support/contract-with.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { get, HOSTILE_REQUESTS, numbered, ONE, post } from '../support/hostile-requests.ts'
import { exchange, RawClient } from '../support/raw-client.ts'

const sheet = { defaultActor: 'human:tester' }
const headers = { ...CSRF, 'content-type': 'application/json' }

interface Envelope {
  readonly error: { readonly type: string; readonly message: string }
}

for (const [title, cases] of Object.entries(HOSTILE_REQUESTS)) {
  test(`D36: ${title}: each gets a response, and errors are short`, async (t) => {
    const { app, logged } = await startApp(t, { sheet, app: { bodyLimit: 1000 } })
    const port = await listen(app)
    for (const [what, message, status, type, words = /./] of cases) {
      await t.test(what, async (own) => {
        const answer = await exchange(own, port, message)
        assert.equal(answer.status, status, answer.body.slice(0, 300))
        assert.match(answer.headers, /^x-content-type-options: nosniff\r$/im)
        assert.doesNotMatch(answer.headers, /^(?:access-control|location|x-a)|x=y/im)
        if (type === undefined) return
        const { error } = JSON.parse(answer.body) as Envelope
        assert.equal(error.type, type)
        assert.match(error.message, words)
        assert.ok(error.message.length < 1000, `${error.message.length} characters`)
      })
    }
    assert.deepEqual(logged, [])
    assert.equal(({} as { title?: string }).title, undefined)
  })
}

/** Every place of a body where a stranger can put a value. */
const PLACES: readonly [path: string, body: (value: string) => string][] = [
  ['/api/query', (value) => value],
  ['/api/query', (value) => `{"sql":${value}}`],
  ['/api/query', (value) => `{"sql":"SELECT ? AS a","params":[${value}]}`],
  ['/api/query', (value) => `{"other":${value}}`],
  ['/api/materialize', (value) => `{"targets":[${value}]}`],
  ['/api/runs/1/cancel', (value) => `{"actor":${value}}`],
  ['/api/revert', (value) => `{"record_id":${value}}`],
  ['/api/records', (value) => value],
  ['/api/records', (value) => `{"records":${value}}`],
  ['/api/records', (value) => `{"records":[${value}]}`],
  ['/api/records', (value) => `{"records":[{"id":"a","title":${value}}]}`],
  ['/api/records', (value) => `{"records":[{"id":"a","tags":${value}}]}`],
  ['/api/records', (value) => `{"records":[{"id":"a","notes":${value}}]}`],
  ['/api/records', (value) => `{"records":[{"id":"a","other":${value}}]}`],
  ['/api/records', (value) => `{"records":[],"actor":${value}}`],
]

const NESTS: readonly ((depth: number) => string)[] = [
  (depth) => '['.repeat(depth) + ']'.repeat(depth),
  (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  (depth) => `${'[{"a":'.repeat(Math.ceil(depth / 2))}1${'}]'.repeat(Math.ceil(depth / 2))}`,
]

test('JSON nested deeper than the limit is a ValidationError anywhere in a body, and at the limit every route works', async (t) => {
  const contract = contractText([
    '{name: title, logicalType: string}',
    '{name: tags, logicalType: array}',
    '{name: notes, logicalType: object}',
  ])
  const records = [{ id: 'a', tags: [[[1]]], notes: { a: { a: 1 } } }]
  const { app, logged } = await startApp(t, { sheet, files: { contract, records, derivations: {} } })
  const tooDeep = `the body nests arrays and objects more than ${JSON_DEPTH_LIMIT} levels deep; send flatter values`
  for (const [url, body] of PLACES) {
    for (const nest of NESTS) {
      for (const depth of [JSON_DEPTH_LIMIT - 4, JSON_DEPTH_LIMIT + 1, 100_000]) {
        const response = await app.inject({ method: 'POST', url, headers, payload: body(nest(depth)) })
        const { error } = response.json<Envelope>()
        const about = `${url} ${body('…')} ${depth}: ${error.message}`
        assert.ok(response.statusCode === 400 || response.statusCode === 404, about)
        assert.equal(error.message === tooDeep, depth > JSON_DEPTH_LIMIT, about)
      }
    }
  }
  assert.deepEqual(logged, [])
})

test('D13: of 20,000 errors the first hundred are listed, and the rest is counted', async (t) => {
  const { app } = await startApp(t, { sheet })
  const unknown = Object.fromEntries(numbered(20_000, (index) => `k${index}`).map((name) => [name, 1]))
  const payload = { records: [{ id: 'q', title: 'x', ...unknown }] }
  const { error } = (
    await app.inject({ method: 'POST', url: '/api/records', headers, payload })
  ).json<Envelope>()
  assert.match(error.message, /field "k99": the contract has no such field; and 19900 more$/)
})

test('D10: lists of many ids and a page beyond the largest get a response', async (t) => {
  const { app } = await startApp(t, { sheet })
  const page = await app.inject('/api/records?limit=10001')
  assert.equal(page.json<{ limit: number }>().limit, 10_000)
  const ids = numbered(14_000, (index) => index.toString(36))
  const deleted = await app.inject({ method: 'DELETE', url: `/api/records?ids=${ids.join(',')},b`, headers })
  assert.deepEqual(deleted.json(), { deleted: 3, remaining: 0 })
  const payload = { record_ids: numbered(30_000, (index) => `no ${index}`) }
  const run = await app.inject({ method: 'POST', url: '/api/materialize', headers, payload })
  assert.equal(run.json<{ failures: [] }>().failures.length, 30_000)
  const { failures } = (
    await app.inject({
      method: 'POST',
      url: '/api/materialize',
      headers,
      payload: { record_ids: ['x'.repeat(100_000)] },
    })
  ).json<{ failures: [{ error: string }] }>()
  assert.ok(failures[0].error.length < 600)
})

test('lists of a run beyond their limits are refused, and the list of runs stays small', async (t) => {
  const { app } = await startApp(t, { sheet })
  const refused: readonly [object, RegExp][] = [
    [{ targets: numbered(1_900_000, () => 'title') }, /^the body has more than 150000 values; /],
    [{ targets: numbered(2001, () => 'title') }, /^"targets" has 2001 items; at most 2000 are possible/],
    [
      { record_ids: numbered(100_001, String) },
      /^"record_ids" has 100001 items; at most 100000 are possible/,
    ],
  ]
  for (const [payload, message] of refused) {
    const run = await app.inject({ method: 'POST', url: '/api/materialize', headers, payload })
    const { error } = run.json<Envelope>()
    assert.deepEqual([run.statusCode, error.type], [400, 'ValidationError'])
    assert.match(error.message, message)
  }
  assert.deepEqual((await app.inject('/api/runs')).json(), { runs: [], next_cursor: null })
})

/** These answer without end. */
const ENDLESS: readonly string[] = ['/events', '/api/sheet/events']

test('D36: every method on every route gets a response, never an internal error', async (t) => {
  const { app, logged } = await startApp(t, { sheet })
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url }) => void paths.add(url.replaceAll(/:\w+/g, 'a')))
  await app.ready()
  assert.ok(paths.size > 10)
  for (const url of paths) {
    for (const method of METHODS.filter(
      (name) => name !== 'CONNECT' && !(name === 'GET' && ENDLESS.includes(url)),
    )) {
      const response = await app.inject({ method: method as 'GET', url } satisfies InjectOptions)
      const about = `${method} ${url} -> ${response.statusCode}`
      assert.ok(response.statusCode < 500, about)
      if (method === 'HEAD') assert.equal(response.body, '', about)
      else if (response.statusCode !== 200) assert.ok(response.json<Envelope>().error.message, about)
    }
  }
  assert.deepEqual(logged, [])
})

test('a thousand requests on one connection, sent at once, get their responses in order', async (t) => {
  const { app } = await startApp(t)
  const client = await RawClient.open(t, await listen(app))
  client.send(numbered(1000, (index) => get(`/api/records/${index}`)).join(''))
  for (let index = 0; index < 1000; index++) {
    const { body } = await client.answer()
    assert.equal((JSON.parse(body) as Envelope).error.message, `no record "${index}"`)
  }
})

test('bytes after a request that are not HTTP do not replace its response', async (t) => {
  const { app, sheet: written } = await startApp(t, { sheet })
  const port = await listen(app)
  const write = post('/api/records', '{"records":[{"id":"new","title":"x"}]}')
  const slow = post('/api/query', ONE)
  const connect = 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'
  for (const [garbage, status] of [
    ['garbage\r\n\r\n', 400],
    [connect, 405],
  ] as const) {
    const client = await RawClient.open(t, port)
    client.send(Buffer.concat([write, slow, Buffer.from(garbage)]))
    const answers = [await client.answer(), await client.answer(), await client.answer()]
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200, status],
    )
    assert.match(answers[1]?.body ?? '', /"one":1/)
    assert.equal(await client.end(), '')
  }
  const { store } = await written.current()
  assert.notEqual(await store.record('new', ['id']), null)
})

test('Expect: 100-continue gets the interim response, and the response', async (t) => {
  const { app } = await startApp(t)
  const client = await RawClient.open(t, await listen(app))
  const request = post('/api/query', ONE, 'Expect: 100-continue')
  client.send(request.subarray(0, -ONE.length))
  await client.waitFor((received) => received === 'HTTP/1.1 100 Continue\r\n\r\n')
  client.received = ''
  client.send(ONE)
  assert.equal((await client.answer()).status, 200)
})

test('Expect: 100-continue of a waiting request does not get into earlier responses', async (t) => {
  const { app } = await startApp(t)
  const client = await RawClient.open(t, await listen(app))
  client.send(
    Buffer.concat([post('/api/query', ONE), Buffer.from(get('/api/records', 'Expect: 100-continue'))]),
  )
  assert.match((await client.answer()).body, /^\{"rows":/)
  await client.waitFor((received) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK'))
  client.received = client.received.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
  assert.match((await client.answer()).body, /^\{"records":/)
  client.send(get('/api/csrf'))
  assert.equal((await client.answer()).status, 200)
})

test('paths are logged as sent, in ASCII and at a limited length', async (t) => {
  const paths: string[] = []
  const logger = {
    debug: (details: object) => void paths.push((details as { path: string }).path),
    error: () => undefined,
  }
  const { app } = await startApp(t, { app: { logger, logRequests: true } })
  const port = await listen(app)
  const sent = [
    '/%0d%0a%7B%22level%22:60%7D',
    '/%c2%9b31m',
    '/%1b%5b2J',
    '/%e2%80%ae',
    `/${'x'.repeat(60_000)}`,
  ]
  for (const path of sent) await exchange(t, port, get(path))
  assert.deepEqual(paths, [...sent.slice(0, -1), `/${'x'.repeat(499)}…`])
})
