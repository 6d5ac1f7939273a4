import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { StoreAwayError } from '../../src/errors/service-error.ts'
import { CSRF, assertEnvelope, listen, runScenarios, startApp } from '../support/http-fixture.ts'
import { exchange } from '../support/raw-client.ts'

const upsert = (records: readonly object[], ifMatch?: string) => ({
  method: 'POST' as const,
  url: '/api/records',
  headers: { ...CSRF, ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
  payload: { records, actor: 'agent:test' },
})

const remove = (ids: string, ifMatch: string) => ({
  method: 'DELETE' as const,
  url: `/api/records?ids=${ids}`,
  headers: { ...CSRF, 'x-svc-actor': 'agent:test', 'if-match': ifMatch },
})

async function tagOf(app: FastifyInstance, id: string, query = ''): Promise<string> {
  return tagIn(await app.inject({ url: `/api/records/${id}${query}` }))
}

function tagIn({ statusCode, headers, body }: LightMyRequestResponse): string {
  assert.equal(statusCode, 200, body)
  const { etag } = headers
  assert.ok(typeof etag === 'string')
  assert.match(etag, /^"[0-9]+-[\w-]{10}"$/)
  return etag
}

async function price(app: FastifyInstance): Promise<unknown> {
  return (await app.inject({ url: '/api/records/a?fields=price' })).json<{ price: unknown }>().price
}

test('a record has its version as strong ETag, the same for any requested fields, and for HEAD', async (t) => {
  const { app } = await startApp(t)
  const tag = await tagOf(app, 'a')
  for (const query of ['?fields=id', '?fields=price,id', '?fields=']) {
    assert.equal(await tagOf(app, 'a', query), tag)
  }
  const head = await app.inject({ method: 'HEAD', url: '/api/records/a' })
  assert.equal(tagIn(head), tag)
  assert.equal(head.body, '')
  assert.equal(await tagOf(app, 'a'), tag)
})

test('responses other than one present record have no version in their ETag', async (t) => {
  const { app } = await startApp(t)
  await app.inject(upsert([{ id: 'a', price: 7 }]))
  for (const url of ['/api/records', '/api/records/a?as_of=1', '/api/status']) {
    const { etag } = (await app.inject({ url })).headers
    assert.equal((await app.inject(upsert([{ id: 'a', price: 8 }], String(etag)))).statusCode, 412, url)
  }
  assert.equal((await app.inject({ url: '/api/records/nobody' })).headers['etag'], undefined)
})

test('a version from a compressed response is valid for a write', async (t) => {
  const { app } = await startApp(t)
  await app.inject(upsert([{ id: 'a', title: 'long'.repeat(300) }]))
  const headers = { 'accept-encoding': 'gzip' }
  const { etag } = (await app.inject({ url: '/api/records/a', headers })).headers
  assert.match(String(etag), /^"\d+-[\w-]{10}\+gzip"$/)
  assert.equal((await app.inject(upsert([{ id: 'a', price: 8 }], String(etag)))).statusCode, 200)
})

test("the response to an upsert of one record has the record's new ETag", async (t) => {
  const { app } = await startApp(t)
  const before = await tagOf(app, 'a')
  const changed = await app.inject(upsert([{ id: 'a', price: 7 }]))
  assert.equal(changed.body, '{"inserted":0,"updated":1,"total":3}')
  assert.notEqual(tagIn(changed), before)
  assert.equal(tagIn(changed), await tagOf(app, 'a'))
  assert.equal(tagIn(await app.inject(upsert([{ id: 'a', price: 7 }]))), tagIn(changed))
  assert.equal(tagIn(await app.inject(upsert([{ id: 'd', title: 'Dill' }]))), await tagOf(app, 'd'))
  for (const records of [[], [{ id: 'a' }, { id: 'b' }], [{ id: 'a' }, { id: 'a' }]]) {
    const { statusCode, headers } = await app.inject(upsert(records))
    assert.deepEqual([statusCode, headers['etag']], [200, undefined])
  }
})

test('D36: an upsert with a stale If-Match is a 412 OperationError that changes nothing; with the new version it succeeds', async (t) => {
  const { app, takeFrames } = await startApp(t)
  const seen = await tagOf(app, 'a')
  await app.inject(upsert([{ id: 'a', price: 2 }]))
  const refused = await app.inject(upsert([{ id: 'a', price: 9 }], seen))
  assert.equal(refused.statusCode, 412)
  assertEnvelope(refused, 'OperationError', /^record "a" has version \d+ by now, .* read the record again/)
  assert.equal(refused.headers['etag'], undefined)
  assert.equal(await price(app), 2)
  const { body } = await app.inject({ url: '/api/provenance?record_id=a&field=price&history=true' })
  assert.equal((JSON.parse(body) as unknown[]).length, 2)

  const next = tagIn(await app.inject(upsert([{ id: 'a', price: 9 }], await tagOf(app, 'a'))))
  tagIn(await app.inject(upsert([{ id: 'a', price: 10 }], next)))
  assert.equal(await price(app), 10)
  assert.deepEqual(await takeFrames(), [])
})

test('RFC 9110 13.1.2: If-None-Match: * writes only new records', async (t) => {
  const { app } = await startApp(t)
  const create = (header: string, ...ids: readonly string[]): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url: '/api/records',
      headers: { ...CSRF, 'if-none-match': header },
      payload: { records: ids.map((id) => ({ id, title: 'New' })), actor: 'agent:test' },
    })
  const refused = await create('*', 'brand-new', 'a')
  assert.equal(refused.statusCode, 412)
  assertEnvelope(refused, 'OperationError', /^record "a" exists already/)
  assert.equal((await app.inject({ url: '/api/records/brand-new' })).statusCode, 404)
  assert.equal((await create('*', 'brand-new')).statusCode, 200)
  assertEnvelope(await create('"17"', 'other'), 'ValidationError', /it can only be \*/)
})

test('a computed value is a new version of its record, and so is a write of another client', async (t) => {
  const { app } = await startApp(t)
  const before = await tagOf(app, 'a')
  const run = { method: 'POST' as const, url: '/api/materialize', headers: CSRF }
  await app.inject({ ...run, payload: { actor: 'agent:test' } })
  assert.equal((await app.inject(upsert([{ id: 'a', price: 9 }], before))).statusCode, 412)
  const computed = await tagOf(app, 'a')
  assert.equal((await app.inject(upsert([{ id: 'a', price: 9 }], computed))).statusCode, 200)
})

test('RFC 9110 13.1.1: If-Match is * or a list of tags, one of which must be that of the record', async (t) => {
  const { app } = await startApp(t)
  const tag = await tagOf(app, 'a')
  const version = tag.slice(1, tag.indexOf('-'))
  const stamp = tag.slice(tag.indexOf('-'), -1)
  // Nothing is changed, so that the version stays.
  const status = async (ifMatch: string, id = 'a'): Promise<number> =>
    (await app.inject(upsert([{ id, title: 'Apple' }], ifMatch))).statusCode
  for (const header of [
    '*',
    tag,
    `"x", ${tag}`,
    `${tag},"x"`,
    `, ,${tag} ,`,
    `W/"x"\t,\t${tag}`,
    `"",${tag}`,
  ]) {
    assert.equal(await status(header), 200, header)
  }
  for (const header of [
    `W/${tag}`,
    '"x"',
    '""',
    `"0${version}${stamp}"`,
    `"${version}"`,
    `"${version}-"`,
    `"${version}-another000"`,
    `"x,y", W/${tag}`,
    '"*"',
    '"\xe9"',
  ]) {
    assert.equal(await status(header), 412, header)
  }
  for (const header of [
    version,
    '',
    ' ',
    ',',
    `${tag} ${tag}`,
    `${tag}${tag}`,
    `*, ${tag}`,
    '"',
    `"${version}`,
  ]) {
    assert.equal(await status(header), 400, header)
  }
  for (const header of [`w/${tag}`, `W/ ${tag}`, `${tag}x`, `x${tag}`, '"a b"', "'1'", '**', `${tag};q=1`]) {
    assert.equal(await status(header), 400, header)
  }
  assert.equal(await status('*', 'nobody'), 412)
  assert.equal(await status(tag, 'nobody'), 412)
  // What takes longest to look at is no way to keep the service busy.
  for (const header of [`"${' '.repeat(100_000)}`, '"'.repeat(100_001), `"x"${' '.repeat(100_000)}"x"`]) {
    assert.equal(await status(header), 400)
  }
})

test('a version that cannot be compared at the moment is no other version: the error of the store is reported', async (t) => {
  const { app, sheet } = await startApp(t)
  const tag = await tagOf(app, 'a')
  const away = new StoreAwayError('the store cannot be used: the connection to the database is lost')
  const current = t.mock.method(sheet, 'current')
  for (const request of [upsert([{ id: 'a', price: 9 }], tag), remove('a', tag)]) {
    current.mock.mockImplementationOnce(() => Promise.reject(away))
    const answer = await app.inject(request)
    assert.equal(answer.statusCode, 500)
    assert.equal(answer.headers['retry-after'], '5')
    assertEnvelope(answer, 'RecordsError', /connection to the database is lost/)
  }
  assert.equal(await tagOf(app, 'a'), tag)
  current.mock.mockImplementationOnce(() => Promise.reject(away))
  assertEnvelope(await app.inject(upsert([{ id: 'a' }, { id: 'b' }], tag)), 'ValidationError', /one record/)
})

test('several If-Match headers are one list', async (t) => {
  const { app } = await startApp(t)
  const tag = await tagOf(app, 'a')
  const port = await listen(app)
  const body = JSON.stringify(upsert([{ id: 'a', price: 4 }]).payload)
  const send = (...ifMatch: readonly string[]): Promise<{ status: number; body: string }> => {
    const headers = [
      `Host: 127.0.0.1:${port}`,
      `Cookie: ${CSRF.cookie}`,
      `X-CSRF-Token: ${CSRF['x-csrf-token']}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...ifMatch.map((value) => `If-Match: ${value}`),
    ]
    return exchange(t, port, `POST /api/records HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  }
  assert.equal((await send('"x"', '"y"')).status, 412)
  assert.equal((await send('*', tag)).status, 400)
  assert.equal((await send('"x"', tag)).status, 200)
  assert.equal((await send('"x"', tag)).status, 412)
})

runScenarios('If-Match', [
  {
    name: 'D36: the CSRF token is checked before the version',
    request: { ...upsert([{ id: 'a', price: 9 }], '"0"'), headers: { 'if-match': '"0"' } },
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
  ...[[], [{ id: 'a' }, { id: 'b' }]].map((records) => ({
    name: `D36: If-Match with ${records.length} records is a ValidationError`,
    request: upsert(records, '*'),
    status: 400,
    error: ['ValidationError', /one record/] as const,
  })),
  {
    name: 'D36: the shape of the request is checked before the version',
    request: { ...upsert([], '"0"'), payload: { records: [{ id: 'a' }], actr: 'agent:test' } },
    status: 400,
    error: ['ValidationError', /actr/],
  },
  {
    name: 'D36: the actor is checked before the version',
    request: { ...upsert([], '"0"'), payload: { records: [{ id: 'a' }] } },
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D36: the version is checked before the permission',
    request: upsert([{ id: 'a', owner_note: 'mine' }], '"0"'),
    status: 412,
    error: ['OperationError', /for version "0"/],
  },
  {
    name: 'D36: the permission is checked if the version matches',
    request: upsert([{ id: 'a', owner_note: 'mine' }], '*'),
    status: 403,
    error: ['PermissionDeniedError', /owner_note/],
  },
  {
    name: 'a record that does not exist has no version, and is not created',
    request: upsert([{ id: 'new', title: 'New' }], '*'),
    status: 412,
    error: ['OperationError', /"new" does not exist/],
    then: async ({ app }) => assert.equal((await app.inject({ url: '/api/records/new' })).statusCode, 404),
  },
  {
    name: 'a deletion for another version is refused',
    request: remove('a', '"0"'),
    status: 412,
    error: ['OperationError', /"a" has version/],
    then: async ({ app }) => assert.equal((await app.inject({ url: '/api/records/a' })).statusCode, 200),
  },
  {
    name: 'a deletion for a version of a record that does not exist is refused',
    request: remove('nobody', '*'),
    status: 412,
    error: ['OperationError', /"nobody" does not exist/],
  },
  {
    name: 'a deletion of several records cannot name a version',
    request: remove('a,b', '*'),
    status: 400,
    error: ['ValidationError', /one record/],
  },
  {
    name: 'a deletion with a malformed If-Match is a ValidationError',
    request: remove('a', 'x'),
    status: 400,
    error: ['ValidationError', /If-Match is "x"/],
  },
  {
    name: 'a deletion for the present version succeeds',
    request: remove('a', '*'),
    status: 200,
    body: { deleted: 1, remaining: 2 },
  },
])

test('of clients that edit the same record concurrently, none overwrites a change that it has not read', async (t) => {
  const { app } = await startApp(t)
  const port = await listen(app)
  const records = `http://127.0.0.1:${port}/api/records`
  const headers = { ...CSRF, 'content-type': 'application/json' }
  let conflicts = 0
  const read = async (): Promise<{ price: number; etag: string }> => {
    const response = await fetch(`${records}/a?fields=price`)
    const record = (await response.json()) as { price: number }
    return { ...record, etag: response.headers.get('etag') ?? assert.fail('no ETag') }
  }
  const addOne = async (first: Awaited<ReturnType<typeof read>>): Promise<void> => {
    for (let seen = first; ; seen = await read()) {
      const response = await fetch(records, {
        method: 'POST',
        headers: { ...headers, 'if-match': seen.etag },
        body: JSON.stringify({ records: [{ id: 'a', price: seen.price + 1 }], actor: 'agent:test' }),
      })
      await response.text()
      if (response.status === 200) return
      assert.equal(response.status, 412)
      conflicts += 1
    }
  }
  const before = Number(await price(app))
  const firsts = await Promise.all(Array.from({ length: 5 }, read))
  await Promise.all(
    firsts.map(async (first) => {
      await addOne(first)
      for (let edit = 1; edit < 6; edit += 1) await addOne(await read())
    }),
  )
  assert.equal(await price(app), before + 30)
  assert.ok(conflicts >= 4)
})
