import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { assertEnvelope, CSRF, runScenarios, startApp, type TestApp } from '../support/http-fixture.ts'

const WRITER = { ...CSRF, 'x-svc-actor': 'agent:test' }
const A = { id: 'a', title: 'Apple', price: 1.5, currency: 'EUR', owner_note: null, rate: null }
const B = { id: 'b', title: 'Bean', price: 2, currency: 'USD', owner_note: null, rate: null }
const C = { id: 'c', title: 'Corn', price: 0.25, currency: 'XXX', owner_note: null, rate: null }
const list = (...records: object[]): object => ({ records, format: 'json', limit: 50, next_cursor: null })

async function write(app: FastifyInstance, ...records: object[]): Promise<void> {
  const payload = { records, actor: 'agent:test' }
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/api/records',
    headers: CSRF,
    payload,
  })
  assert.equal(statusCode, 200, body)
}

async function remove(app: FastifyInstance, ids: string): Promise<void> {
  const { statusCode } = await app.inject({
    method: 'DELETE',
    url: `/api/records?ids=${ids}`,
    headers: WRITER,
  })
  assert.equal(statusCode, 200)
}

/** After the import, entry 1: the price of `a`, `b` and `c` deleted, `b` created again, two rates computed. */
async function changed({ app }: TestApp): Promise<void> {
  await write(app, { id: 'a', price: 3 })
  await remove(app, 'b,c')
  await write(app, { id: 'b', title: 'Beet', currency: 'USD' })
  const run = await app.inject({
    method: 'POST',
    url: '/api/materialize',
    headers: CSRF,
    payload: { actor: 'agent:test' },
  })
  assert.equal(run.statusCode, 200, run.body)
}

const BEET = { ...B, title: 'Beet', price: null }

runScenarios('as_of', [
  {
    name: 'an earlier list has deleted records at their position, with their values of that time',
    given: changed,
    request: { url: '/api/records?as_of=1' },
    status: 200,
    body: list(A, B, C),
    then: async ({ app }) => {
      const dearer = { ...A, price: 3 }
      const later = [
        list(dearer, B, C),
        list(dearer, C),
        list(dearer),
        list(dearer, BEET),
        list({ ...dearer, rate: 1 }, BEET),
        list({ ...dearer, rate: 1 }, { ...BEET, rate: 0.9 }),
      ]
      for (const [index, body] of [list(), list(A, B, C), ...later].entries()) {
        assert.deepEqual((await app.inject(`/api/records?as_of=${index}`)).json(), body, `as of ${index}`)
      }
      assert.deepEqual((await app.inject('/api/records')).json(), later.at(-1))
    },
  },
  {
    name: 'an earlier record has no version; its fields can be selected',
    given: changed,
    request: { url: '/api/records/b?as_of=2&fields=title,id' },
    status: 200,
    then: async ({ app }, { body, headers }) => {
      assert.equal(body, '{"title":"Bean","id":"b"}')
      assert.doesNotMatch(String(headers['etag']), /^"\d+-/)
      assert.deepEqual((await app.inject('/api/records/b?as_of=4')).statusCode, 404)
      assert.deepEqual((await app.inject('/api/records/b?as_of=5')).json(), BEET)
      assert.deepEqual((await app.inject('/api/records/c?as_of=3')).json(), C)
    },
  },
  {
    name: 'a record that did not exist at the time is a 404 with the time',
    request: { url: '/api/records/a?as_of=0' },
    status: 404,
    error: ['SheetError', /^no record "a" after entry 0$/],
  },
  ...['/api/records', '/api/records/a'].flatMap((path) => [
    ...[
      ['', /""/],
      ['yesterday', /"yesterday"/],
      ['-1', /"-1"/],
      ['1.5', /"1\.5"/],
      ['1e3', /"1e3"/],
      [' 1', /" 1"/],
      ['\u0663', /"\u0663"/],
      ['2026-01-01', /"2026-01-01"/],
      ['2026-01-01T10:00:00', /"2026-01-01T10:00:00"/],
      ['2026-02-30T10:00:00Z', /"2026-02-30T10:00:00Z"/],
      ['x'.repeat(1000), /"x{79}…"/],
    ].map(([text, seen]) => ({
      name: `${path}: as_of=${String(text).slice(0, 20)} is a ValidationError with both forms and the value seen`,
      request: { url: `${path}?as_of=${encodeURIComponent(String(text))}` },
      status: 400,
      error: ['ValidationError', new RegExp(`a seq .*a time .*, got ${(seen as RegExp).source}$`)] as const,
    })),
    {
      name: `${path}: a plus sign that the URL decodes to a space is explained`,
      request: { url: `${path}?as_of=2026-01-01T10:00:00+02:00` },
      status: 400,
      error: ['ValidationError', /"2026-01-01T10:00:00 02:00"; a "\+" is written %2B/] as const,
    },
    ...['2', '9'.repeat(400)].map((seq) => ({
      name: `${path}: a future entry is a ValidationError with the last one: ${seq.length} digits`,
      request: { url: `${path}?as_of=${seq}` },
      status: 400,
      error: ['ValidationError', /has not happened yet; the last entry is 1$/] as const,
    })),
    {
      name: `${path}: a future time is a ValidationError with the present time`,
      request: { url: `${path}?as_of=2999-01-01T00:00:00Z` },
      status: 400,
      error: ['ValidationError', /"?2999-01-01T00:00:00Z"? is in the future; it is 20\d\d-.*Z now$/] as const,
    },
    {
      name: `${path}: an unknown field is a ValidationError with as_of too`,
      request: { url: `${path}?as_of=1&fields=colour` },
      status: 400,
      error: ['ValidationError', /colour/] as const,
    },
  ]),
  ...['price%20%3E%201', ''].map((filter) => ({
    name: `filter=${filter} and as_of together are an OperationError`,
    request: { url: `/api/records?as_of=1&filter=${filter}` },
    status: 400,
    error: ['OperationError', /filter and as_of/] as const,
  })),
  {
    name: 'D10: a limit is checked and lowered with as_of too',
    request: { url: '/api/records?as_of=1&limit=20000&fields=id' },
    status: 200,
    body: {
      records: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      format: 'json',
      limit: 10_000,
      next_cursor: null,
    },
  },
  {
    name: 'D10: a limit of 0 is a ValidationError with as_of too',
    request: { url: '/api/records?as_of=1&limit=0' },
    status: 400,
    error: ['ValidationError', /limit/],
  },
])

const comparison = (records: object[], limit: number, changes: unknown[]): object => ({
  records,
  format: 'json',
  limit,
  next_cursor: null,
  changed: changes,
})

runScenarios('pages of an earlier state', [
  {
    name: 'with changed=true a page names the fields with another value now, and null for deleted records',
    given: changed,
    request: { url: '/api/records?as_of=1&changed=true' },
    status: 200,
    body: comparison([A, B, C], 50, [['price', 'rate'], null, null]),
    then: async ({ app }, { headers }) => {
      await write(app, { id: 'a', title: 'Ananas' })
      const ifNoneMatch = { 'if-none-match': String(headers['etag']) }
      const later = await app.inject({ url: '/api/records?as_of=1&changed=true', headers: ifNoneMatch })
      assert.equal(later.statusCode, 200, 'the tag is that of the records and of what has changed')
    },
  },
  {
    name: 'position counts the records that existed then',
    given: changed,
    request: { url: '/api/records?as_of=3&position=1&limit=5&fields=id&changed=true' },
    status: 200,
    body: comparison([{ id: 'c' }], 5, [null]),
  },
  {
    name: 'the position of a record is that among the records that existed then',
    given: changed,
    request: { url: '/api/position?as_of=3&record_id=c' },
    status: 200,
    body: { position: 1 },
    then: async ({ app }) => {
      for (const query of ['as_of=3&record_id=b', 'as_of=0&record_id=a', 'as_of=1&record_id=nobody'])
        assert.deepEqual((await app.inject(`/api/position?${query}`)).json(), { position: null })
    },
  },
  {
    name: 'an earlier position with a condition is refused',
    request: { url: `/api/position?record_id=a&as_of=1&filter=1` },
    status: 400,
    error: ['OperationError', /^filter and as_of cannot be combined: earlier states are filtered with where/],
  },
  {
    name: 'changed without as_of is refused',
    request: { url: '/api/records?changed=true' },
    status: 400,
    error: ['ValidationError', /^changed requires as_of$/],
  },
])

test('GET /api/history has the state that as_of means, its neighbours, and the range of states', async (t) => {
  const { app } = await startApp(t)
  const history = async (query = ''): Promise<Record<string, unknown>> =>
    (await app.inject(`/api/history${query}`)).json()
  const { at, actor, ...imported } = await history()
  const range = { first: 0, first_at: null, last: 1, last_at: at }
  assert.deepEqual(imported, { seq: 1, source: 'import', total: 3, previous: 0, next: null, ...range })
  const writeLater = async (...records: object[]): Promise<unknown> => {
    const { last_at: before } = await history()
    while (Date.now() <= Date.parse(String(before))) await new Promise(setImmediate)
    await write(app, ...records)
    return (await history())['last_at']
  }
  // The lines of one write have one time, and are one change.
  const second = await writeLater({ id: 'a', price: 3 }, { id: 'd', title: 'Dill' })
  const third = await writeLater({ id: 'a', price: 4 })
  const later = { ...range, last: 4, last_at: third }
  const written = { actor: 'agent:test', source: 'write', ...later }
  const states = [
    { seq: 0, at: null, actor: null, source: null, total: 0, previous: null, next: 1, ...later },
    { seq: 1, at, actor, source: 'import', total: 3, previous: 0, next: 3, ...later },
    { seq: 2, at: second, total: 3, previous: 1, next: 3, ...written },
    { seq: 3, at: second, total: 4, previous: 1, next: 4, ...written },
    { seq: 4, at: third, total: 4, previous: 3, next: null, ...written },
  ]
  for (const state of states) assert.deepEqual(await history(`?as_of=${state.seq}`), state)
  assert.deepEqual(await history(`?as_of=${String(second)}`), states[3])
  for (const query of ['?as_of=5', '?as_of=x', '?as_of=2999-01-01T00:00:00Z'])
    assertEnvelope(await app.inject(`/api/history${query}`), 'ValidationError', /as_of/)
})

test('the provenance of a cell is that of an earlier time', async (t) => {
  const { app } = await startApp(t)
  await write(app, { id: 'a', price: 3 })
  await remove(app, 'a')
  const read = async (query: string): Promise<unknown> =>
    (await app.inject(`/api/provenance?record_id=a&field=price&${query}`)).json()
  const entries = (await read('history=true')) as { seq: number; value: unknown }[]
  assert.deepEqual(
    entries.map(({ value }) => value),
    [1.5, 3, null],
  )
  for (const asOf of [0, 1, 2, 3]) {
    assert.deepEqual(await read(`as_of=${asOf}&history=true`), entries.slice(0, asOf))
    assert.deepEqual(await read(`as_of=${asOf}`), entries[asOf - 1] ?? null)
  }
  const refused = await app.inject('/api/provenance?record_id=a&field=price&as_of=9')
  assertEnvelope(refused, 'ValidationError', /has not happened yet/)
})

test('a time selects the last entry that is not later, in any offset and to any fraction', async (t) => {
  const { app } = await startApp(t)
  const { at } = (await app.inject('/api/provenance?record_id=a&field=title')).json<{ at: string }>()
  const time = Date.parse(at)
  // What follows is later by a millisecond at least.
  while (Date.now() <= time) await new Promise(setImmediate)
  await write(app, { id: 'a', title: 'Apricot' })
  const titleAt = async (asOf: string): Promise<unknown> => {
    const response = await app.inject(`/api/records/a?fields=title&as_of=${encodeURIComponent(asOf)}`)
    return response.statusCode === 404 ? null : response.json<{ title: string }>().title
  }
  const inOffset = `${new Date(time + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`
  for (const text of [at, inOffset, at.replace('Z', '999Z')]) assert.equal(await titleAt(text), 'Apple', text)
  for (const text of [
    new Date(time - 1).toISOString(),
    '0000-01-01T00:00:00+23:59',
    '1969-12-31T23:59:60Z',
  ]) {
    assert.equal(await titleAt(text), null, text)
  }
  assert.equal(await titleAt(new Date().toISOString()), 'Apricot')
})

test('a walk through an earlier state is not affected by writes, and its cursors are for it alone', async (t) => {
  const { app } = await startApp(t)
  const page = (query: string) => app.inject(`/api/records?fields=id&${query}`)
  const cursorOf = async (query: string): Promise<string> => {
    const { next_cursor: cursor } = (await page(query)).json<{ next_cursor: string }>()
    return `cursor=${encodeURIComponent(cursor)}`
  }
  const now = encodeURIComponent(new Date().toISOString())
  const plain = await cursorOf('limit=1')
  for (const asOf of ['as_of=1', `as_of=${now}`]) {
    const first = await cursorOf(`${asOf}&limit=1`)
    await write(app, { id: 'new', title: 'New' }, { id: 'c', title: 'Cress' })
    await remove(app, 'b,c,new')
    const second = await page(`${asOf}&limit=1&${first}`)
    const { records } = second.json<{ records: object[] }>()
    assert.deepEqual(records, [{ id: 'b' }])
    const rest = await page(`${asOf}&limit=5&${first}`)
    assert.deepEqual(rest.json(), {
      records: [{ id: 'b' }, { id: 'c' }],
      format: 'json',
      limit: 5,
      next_cursor: null,
    })
    const inner = first.slice(first.indexOf('.') + 1)
    const misuses = [
      first,
      `as_of=0&${first}`,
      `as_of=2&${first}`,
      `as_of=2026-01-01T00:00:00Z&${first}`,
      `filter=1&${first}`,
      `${asOf}&${plain}`,
      `${asOf}&cursor=${inner}`,
      `${asOf}&cursor=2.${inner}`,
      `${asOf}&cursor=01.${inner}`,
      `${asOf}&cursor=.${inner}`,
      `cursor=${inner}`,
      `${asOf}&cursor=made-up`,
      `${asOf}&cursor=`,
    ]
    for (const query of misuses) {
      const response = await page(query)
      assert.equal(response.statusCode, 400, query)
      assertEnvelope(response, 'ValidationError', /^cursor was not issued by this sheet for this list/)
    }
    await write(app, { id: 'b', title: 'Bean' }, { id: 'c', title: 'Corn' })
    if (asOf === 'as_of=1') continue
    assertEnvelope(await page(`as_of=1&${first}`), 'ValidationError', /^cursor was not issued/)
  }
})
