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
