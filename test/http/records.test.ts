import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSRF, runScenarios, startApp } from '../support/http-fixture.ts'

const A = { id: 'a', title: 'Apple', price: 1.5, currency: 'EUR', owner_note: null, rate: null }
const WRITER = { ...CSRF, 'x-svc-actor': 'agent:test' }
const LONG_ID = '😀'.repeat(512)

const upsert = (payload: object | string, headers: Record<string, string> = CSRF) => ({
  method: 'POST' as const,
  url: '/api/records',
  headers: { 'content-type': 'application/json', ...headers },
  payload,
})

runScenarios('records', [
  {
    name: 'D12: a record has every field of the contract, null where there is no value',
    request: { url: '/api/records/a' },
    status: 200,
    body: A,
  },
  {
    name: 'D12: a record can have selected fields, in the requested order; blanks and repeats are ignored',
    request: { url: '/api/records/a?fields=price,%20id%20,price,' },
    status: 200,
    then: async (_app, response) => assert.equal(response.body, '{"price":1.5,"id":"a"}'),
  },
  {
    name: 'an absent record is a 404 with the envelope',
    request: { url: '/api/records/nobody' },
    status: 404,
    error: ['SheetError', /nobody/],
  },
  {
    name: 'D12: an unknown field is a ValidationError that names it',
    request: { url: '/api/records/a?fields=colour' },
    status: 400,
    error: ['ValidationError', /colour/],
  },
  {
    name: 'a list has the four members of its envelope and ends with a null cursor',
    request: { url: '/api/records?fields=id' },
    status: 200,
    body: { records: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], format: 'json', limit: 50, next_cursor: null },
  },
  {
    name: 'D12: an empty `fields` is absent',
    request: { url: '/api/records?fields=&limit=1&filter=id%20%3D%20%27a%27' },
    status: 200,
    body: { records: [A], format: 'json', limit: 1, next_cursor: null },
  },
  ...['10001', '9'.repeat(23), '9'.repeat(400)].map((limit) => ({
    name: `D10: a limit above 10000 is lowered in the response, however large it is: ${limit.length} digits`,
    request: { url: `/api/records?fields=id&limit=${limit}` },
    status: 200,
    body: {
      records: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      format: 'json',
      limit: 10_000,
      next_cursor: null,
    },
  })),
  ...['0', '-1', '1.5', 'ten', '', '1e3', '0x10', ' 5'].map((limit) => ({
    name: `D10: limit=${JSON.stringify(limit)} is a ValidationError`,
    request: { url: `/api/records?limit=${encodeURIComponent(limit)}` },
    status: 400,
    error: ['ValidationError', /limit/] as const,
  })),
  {
    name: 'D11: a cursor that the service did not issue is a ValidationError',
    request: { url: '/api/records?cursor=made-up' },
    status: 400,
    error: ['ValidationError', /cursor/],
  },
  {
    name: 'D16: a filter that is not an expression is a QueryError',
    request: { url: '/api/records?filter=1%3D1)%20OR%20(1%3D1' },
    status: 400,
    error: ['QueryError', /./],
  },
  {
    name: 'a misspelt query parameter is a ValidationError that names the known ones',
    request: { url: '/api/records?limt=5' },
    status: 400,
    error: ['ValidationError', /"limt".*fields, limit, cursor, filter/],
  },
  {
    name: 'a repeated query parameter is a ValidationError',
    request: { url: '/api/records?limit=5&limit=6' },
    status: 400,
    error: ['ValidationError', /"limit".*more than once/],
  },
  {
    name: 'a query that is not percent-encoded UTF-8 is a ValidationError',
    request: { url: '/api/records?filter=%FF' },
    status: 400,
    error: ['ValidationError', /percent-encoded/],
  },
  {
    name: 'an upsert returns its counts and publishes nothing',
    request: upsert({
      records: [
        { id: 'd', title: 'Dill' },
        { id: 'a', price: 3 },
      ],
      actor: 'agent:test',
    }),
    status: 200,
    body: { inserted: 1, updated: 1, total: 4 },
    then: async ({ app }) => {
      const { body } = await app.inject({ url: '/api/records/a?fields=title,price' })
      assert.deepEqual(JSON.parse(body), { title: 'Apple', price: 3 })
    },
  },
  {
    name: 'an upsert without an actor falls back to the server default',
    request: upsert({ records: [], actor: null }),
    options: { sheet: { defaultActor: 'agent:default' } },
    status: 200,
    body: { inserted: 0, updated: 0, total: 3 },
  },
  {
    name: 'an upsert without any actor is a 400 with the message of the specification',
    request: upsert({ records: [] }),
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D36: an empty actor is absent',
    request: upsert({ records: [], actor: '' }),
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D39: an actor of more than 200 characters is a ValidationError',
    request: upsert({ records: [], actor: 'x'.repeat(201) }),
    status: 400,
    error: ['ValidationError', /actor/],
  },
  {
    name: 'D13: errors of a record are a ValidationError with id and field, and nothing is written',
    request: upsert({
      records: [
        { id: 'd', title: 'Dill' },
        { id: 'e', title: 7 },
      ],
      actor: 'agent:test',
    }),
    status: 400,
    error: ['ValidationError', /"?e"?.*title/],
    then: async ({ app }) => assert.equal((await app.inject({ url: '/api/records/d' })).statusCode, 404),
  },
  {
    name: 'a field that the actor may not write is a PermissionDeniedError',
    request: upsert({ records: [{ id: 'a', owner_note: 'mine' }], actor: 'agent:test' }),
    status: 403,
    error: ['PermissionDeniedError', /owner_note/],
  },
  {
    name: 'D36: an upsert that is not JSON is a ValidationError',
    request: upsert('{"records":['),
    status: 400,
    error: ['ValidationError', /JSON/],
  },
  {
    name: 'D36: an empty body of an upsert is {}',
    request: { method: 'POST', url: '/api/records', headers: CSRF },
    status: 400,
    error: ['ValidationError', /records/],
  },
  {
    name: 'a misspelt member of an upsert is a ValidationError that names the known ones',
    request: upsert({ records: [], actr: 'agent:test', actor: 'agent:test' }),
    status: 400,
    error: ['ValidationError', /actr/],
  },
  {
    name: 'D15: a delete counts the ids that existed, each once',
    request: { method: 'DELETE', url: '/api/records?ids=a,%20nobody,a,c,', headers: WRITER },
    status: 200,
    body: { deleted: 2, remaining: 1 },
  },
  {
    name: 'D15: a delete without ids is a ValidationError and deletes nothing',
    request: { method: 'DELETE', url: '/api/records?ids=%20,', headers: WRITER },
    status: 400,
    error: ['ValidationError', /ids/],
    then: async ({ app }) => assert.equal((await app.inject({ url: '/api/records/a' })).statusCode, 200),
  },
  {
    name: 'a delete without any actor is a 400 with the message of the specification',
    request: { method: 'DELETE', url: '/api/records?ids=a', headers: { ...CSRF, 'x-svc-actor': '' } },
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D36: a body of DELETE is ignored, whatever it is',
    request: {
      method: 'DELETE',
      url: '/api/records?ids=a',
      headers: { ...WRITER, 'content-type': 'no type at all' },
      payload: '{{{',
    },
    status: 200,
    body: { deleted: 1, remaining: 2 },
  },
  {
    name: 'an actor header in UTF-8 is decoded',
    request: {
      method: 'DELETE',
      url: '/api/records?ids=a',
      headers: { ...CSRF, 'x-svc-actor': Buffer.from('agent:Zoë', 'utf8').toString('latin1') },
    },
    status: 200,
    then: async ({ app }) => {
      const { body } = await app.inject({ url: '/api/provenance?record_id=a&field=title' })
      assert.equal((JSON.parse(body) as { actor: string }).actor, 'agent:Zoë')
    },
  },
])

test('D11: the cursor of a page leads to the next one, and only for the same filter', async (t) => {
  const { app } = await startApp(t)
  const first = (await app.inject({ url: '/api/records?fields=id&limit=2' })).json<{ next_cursor: string }>()
  const cursor = encodeURIComponent(first.next_cursor)
  const second = await app.inject({ url: `/api/records?fields=id&limit=2&cursor=${cursor}` })
  assert.deepEqual(second.json(), { records: [{ id: 'c' }], format: 'json', limit: 2, next_cursor: null })
  const filtered = await app.inject({ url: `/api/records?cursor=${cursor}&filter=price%20%3E%200` })
  assert.equal(filtered.statusCode, 400)
})

test('D14: an id of 512 characters that each take four bytes can be written, read by its path and deleted', async (t) => {
  const { app } = await startApp(t)
  const record = { id: LONG_ID, title: 'Long' }
  assert.equal((await app.inject(upsert({ records: [record], actor: 'agent:test' }))).statusCode, 200)
  const encoded = encodeURIComponent(LONG_ID)
  const read = await app.inject({ url: `/api/records/${encoded}?fields=id,title` })
  assert.deepEqual(read.json(), record)
  const url = `/api/records?ids=${encoded}`
  const deleted = await app.inject({ method: 'DELETE', url, headers: WRITER })
  assert.deepEqual(deleted.json(), { deleted: 1, remaining: 3 })
})

test('an id with a slash, a percent sign and a question mark is read by its encoded path', async (t) => {
  const id = '50%/a?b#c&d+e f'
  const { app } = await startApp(t, { files: { records: [{ id, title: 'Odd' }] } })
  const read = await app.inject({ url: `/api/records/${encodeURIComponent(id)}?fields=id` })
  assert.deepEqual(read.json(), { id })
})
