import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { assertEnvelope, CSRF, startApp, type TestApp } from '../support/http-fixture.ts'

const STATE = {
  conditions: [
    { field: 'title', is: 'contains', value: 'a' },
    { state: ['failed'], fields: ['price', 'title'] },
  ],
  sql: 'price > 1',
  sort: ['-price', 'title'],
  columns: { order: ['price', 'id'], hidden: ['title'], pinned: [], widths: { price: 90 }, rowHeight: 28 },
}

type Method = 'POST' | 'PUT' | 'DELETE' | 'PATCH'

interface Answer {
  readonly id: string
  readonly name: string
}

/** Sends a write, and returns the JSON of its answer. */
async function sent<T>({ app }: TestApp, method: Method, url: string, payload?: object): Promise<T> {
  const options: InjectOptions = { method, url, headers: { ...CSRF, 'x-svc-actor': 'human:ann' } }
  const response = await app.inject(payload === undefined ? options : { ...options, payload })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<T>()
}

async function views({ app }: TestApp): Promise<Answer[]> {
  return (await app.inject('/api/views')).json<{ views: Answer[] }>().views
}

const save = (running: TestApp, name: string, more: object = {}): Promise<Answer> =>
  sent(running, 'POST', '/api/views', { name, ...STATE, actor: 'human:ann', ...more })

test('views are saved, listed by name, replaced and deleted', async (t) => {
  const running = await startApp(t)
  assert.deepEqual(await views(running), [])
  const { id } = await save(running, ' Cheap ')
  await save(running, 'All', { conditions: [], sql: null, sort: [], columns: {} })
  const [all, cheap] = await views(running)
  const { saved_at: at, ...rest } = cheap as Answer & { saved_at: string }
  assert.match(at, /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(rest, { id, name: 'Cheap', ...STATE, saved_by: 'human:ann' })
  assert.equal(all?.name, 'All')
  await sent(running, 'PUT', `/api/views/${id}`, { name: 'Cheapest', sort: ['price'], actor: 'human:bob' })
  const changed = (await views(running)).find((view) => view.id === id)
  assert.deepEqual(
    { ...changed, saved_at: null },
    {
      id,
      name: 'Cheapest',
      conditions: [],
      sql: null,
      sort: ['price'],
      columns: {},
      saved_by: 'human:bob',
      saved_at: null,
    },
  )
  assert.deepEqual(await sent(running, 'DELETE', `/api/views/${id}`), { deleted: id })
  assert.deepEqual(
    (await views(running)).map(({ name }) => name),
    ['All'],
  )
  assert.notEqual((await save(running, 'Cheap')).id, id)
})

test('names of views and unknown views are refused with what to do', async (t) => {
  const running = await startApp(t)
  const { id } = await save(running, 'Mine')
  const other = await save(running, 'Other')
  const refused = async (
    method: Method,
    url: string,
    payload: object | undefined,
    [status, type, message]: readonly [number, string, RegExp],
  ): Promise<void> => {
    const options: InjectOptions = { method, url, headers: { ...CSRF, 'x-svc-actor': 'human:ann' } }
    const response = await running.app.inject(payload === undefined ? options : { ...options, payload })
    assert.equal(response.statusCode, status, response.body)
    assertEnvelope(response, type, message)
  }
  const actor = 'human:ann'
  await refused('POST', '/api/views', { name: 'Mine', actor }, [
    409,
    'OperationError',
    /named "Mine" already; choose another/,
  ])
  await refused('PUT', `/api/views/${other.id}`, { name: 'Mine', actor }, [
    409,
    'OperationError',
    /named "Mine" already/,
  ])
  await sent(running, 'PUT', `/api/views/${id}`, { name: 'Mine', actor })
  await refused('POST', '/api/views', { name: '  ', actor }, [
    400,
    'ValidationError',
    /must have 1 to 100 characters, got " {2}"/,
  ])
  await refused('POST', '/api/views', { name: 'x'.repeat(101), actor }, [
    400,
    'ValidationError',
    /1 to 100 characters/,
  ])
  await refused('POST', '/api/views', { name: 'a\0', actor }, [400, 'ValidationError', /U\+0000/])
  const large = { name: 'Large', columns: { note: 'x'.repeat(100_001) }, actor }
  await refused('POST', '/api/views', large, [400, 'ValidationError', /at most 100000 characters of JSON/])
  await refused('PUT', '/api/views/none', { name: 'New', actor }, [404, 'SheetError', /^no view "none"$/])
  await refused('DELETE', '/api/views/none', undefined, [404, 'SheetError', /^no view "none"$/])
})

test('views follow the names of fields', async (t) => {
  const running = await startApp(t)
  await save(running, 'Mine')
  const change = (method: Method, name: string, payload: object): Promise<{ id?: string }> =>
    sent(running, method, `/api/contract/properties/${name}`, { ...payload, actor: 'human:ann' })
  await change('PATCH', 'price', { new_name: 'cost' })
  const renamed = { ...STATE, ...(await views(running))[0] }
  assert.deepEqual(renamed.sort, ['-cost', 'title'])
  assert.deepEqual(renamed.columns, {
    order: ['cost', 'id'],
    hidden: ['title'],
    pinned: [],
    widths: { cost: 90 },
    rowHeight: 28,
  })
  assert.deepEqual(renamed.conditions[1], { state: ['failed'], fields: ['cost', 'title'] })
  // Another field with the former name is another field.
  await sent(running, 'POST', '/api/contract/properties', {
    name: 'price',
    logicalType: 'string',
    actor: 'human:ann',
  })
  assert.deepEqual({ ...STATE, ...(await views(running))[0] }.sort, ['-cost', 'title'])
})

test('charts are saved, listed by name, replaced and deleted, and follow the names of fields', async (t) => {
  const running = await startApp(t)
  const charts = async (): Promise<Answer[]> =>
    (await running.app.inject('/api/charts')).json<{ charts: Answer[] }>().charts
  const actor = 'human:ann'
  // A view of the same name is no obstacle.
  await save(running, 'Prices')
  const { id } = await sent<Answer>(running, 'POST', '/api/charts', {
    name: ' Prices ',
    group: 'price',
    actor,
  })
  await sent(running, 'POST', '/api/charts', {
    name: 'All',
    group: 'title',
    split: 'price',
    total: 'price',
    period: 'year',
    actor,
  })
  const [all, prices] = await charts()
  assert.equal(all?.name, 'All')
  const { saved_at: at, ...rest } = prices as Answer & { saved_at: string }
  assert.match(at, /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(rest, {
    id,
    name: 'Prices',
    group: 'price',
    split: null,
    total: null,
    period: 'month',
    saved_by: actor,
  })
  const change = (method: Method, name: string, payload: object): Promise<unknown> =>
    sent(running, method, `/api/contract/properties/${name}`, { ...payload, actor })
  await change('PATCH', 'price', { new_name: 'cost' })
  assert.deepEqual(
    { ...all, ...(await charts())[0], saved_at: null },
    {
      ...all,
      split: 'cost',
      total: 'cost',
      saved_at: null,
    },
  )
  await change('DELETE', 'cost?confirm=3', {})
  assert.deepEqual(
    (await charts())
      .map((chart) => ({ ...chart, saved_at: null }))
      .map((chart) => Object.values(chart).slice(1, 5)),
    [
      ['All', 'title', null, null],
      ['Prices', null, null, null],
    ],
  )
  await sent(running, 'PUT', `/api/charts/${id}`, { name: 'Titles', group: 'title', actor })
  assert.deepEqual(await sent(running, 'DELETE', `/api/charts/${id}`), { deleted: id })
  assert.deepEqual(
    (await charts()).map(({ name }) => name),
    ['All'],
  )
})

test('charts of fields that cannot be grouped, and names that another has, are refused', async (t) => {
  const running = await startApp(t)
  const actor = 'human:ann'
  await sent(running, 'POST', '/api/charts', { name: 'Mine', group: 'price', actor })
  const refused = async (payload: object, status: number, type: string, message: RegExp): Promise<void> => {
    const options: InjectOptions = { method: 'POST', url: '/api/charts', headers: CSRF, payload }
    const response = await running.app.inject(options)
    assert.equal(response.statusCode, status, response.body)
    assertEnvelope(response, type, message)
  }
  await refused(
    { name: 'Mine', group: 'title', actor },
    409,
    'OperationError',
    /a chart is named "Mine" already/,
  )
  await refused({ name: 'New', group: 'none', actor }, 400, 'ValidationError', /none/)
  await refused(
    { name: 'New', group: 'title', total: 'title', actor },
    400,
    'ValidationError',
    /cannot add up/,
  )
  await refused({ name: ' ', group: 'title', actor }, 400, 'ValidationError', /name of a chart must have/)
  const response = await running.app.inject({
    method: 'DELETE',
    url: '/api/charts/none',
    headers: { ...CSRF, 'x-svc-actor': actor },
  })
  assert.equal(response.statusCode, 404)
  assertEnvelope(response, 'SheetError', /^no chart "none"$/)
})
