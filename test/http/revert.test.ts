import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import {
  CSRF,
  assertEnvelope,
  runScenarios,
  startApp,
  startAppOver,
  type TestApp,
} from '../support/http-fixture.ts'
import { openImpatient, openTestSheetIn, writeSheet } from '../support/sheet-fixture.ts'

const actor = 'agent:test'

const post = (
  url: string,
  payload: object | string,
  headers: Record<string, string> = CSRF,
): InjectOptions => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  payload,
})
const revert = (payload: object | string, headers?: Record<string, string>): InjectOptions =>
  post('/api/revert', payload, headers)
const materialize = post('/api/materialize', { actor, record_ids: ['a', 'b'] })
const write = (record: object, writer = actor): InjectOptions =>
  post('/api/records', { actor: writer, records: [record] })

const EITHER =
  /^the body must have either "run_id", .* or "record_id", "field" and "seq", .* or "record_id" and "seq", or "record_ids"/

const remove = (...ids: readonly string[]): InjectOptions => ({
  method: 'DELETE',
  url: `/api/records?ids=${ids.join()}`,
  headers: { ...CSRF, 'x-svc-actor': actor },
})

/** Has the app answer these requests, each with a 200. */
async function after({ app }: TestApp, ...requests: readonly InjectOptions[]): Promise<void> {
  for (const request of requests) {
    const response = await app.inject(request)
    assert.equal(response.statusCode, 200, response.body)
  }
}

async function valueOf({ app }: TestApp, id: string, field: string): Promise<unknown> {
  const response = await app.inject(`/api/records/${id}?fields=${field}`)
  return response.json<Record<string, unknown>>()[field]
}

runScenarios('reverts', [
  {
    name: 'the revert of a run is itself a run, which the response and Location name',
    given: (app) => after(app, materialize),
    request: revert({ actor, run_id: '1' }),
    status: 200,
    body: { reverted: 2, conflicts: [], run_id: '2' },
    then: async (app, response: LightMyRequestResponse) => {
      assert.equal(response.headers.location, '/api/runs/2')
      assert.equal(response.headers['set-cookie'], undefined)
      const run = (await app.app.inject('/api/runs/2')).json<Record<string, unknown>>()
      const { kind, reverts, state, materialized, skipped, done, total } = run
      assert.deepEqual(
        { kind, reverts, state, materialized, skipped, done, total },
        { kind: 'revert', reverts: '1', state: 'finished', materialized: 2, skipped: 0, done: 2, total: 2 },
      )
      assert.equal(await valueOf(app, 'a', 'rate'), null)
    },
  },
  {
    name: 'the revert of the revert restores the values of the run',
    given: (app) => after(app, materialize, revert({ actor, run_id: '1' })),
    request: revert({ actor, run_id: '2' }),
    status: 200,
    body: { reverted: 2, conflicts: [], run_id: '3' },
    then: async (app) => assert.equal(await valueOf(app, 'b', 'rate'), 0.9),
  },
  {
    name: 'a cell of a record that was deleted meanwhile is a conflict and is skipped',
    given: (app) =>
      after(app, materialize, {
        method: 'DELETE',
        url: '/api/records?ids=b',
        headers: { ...CSRF, 'x-svc-actor': actor },
      }),
    request: revert({ actor, run_id: '1' }),
    status: 200,
    body: { reverted: 1, conflicts: [{ record_id: 'b', field: 'rate' }], run_id: '2' },
  },
  {
    name: 'one cell is reverted by the seq of its entry, without a run',
    given: (app) => after(app, write({ id: 'a', price: 7 })),
    request: revert({ record_id: 'a', field: 'price', seq: 2, run_id: null, actor }),
    status: 200,
    body: { reverted: 1, conflicts: [], run_id: null },
    then: async (app, response) => {
      assert.equal(response.headers.location, undefined)
      assert.equal(await valueOf(app, 'a', 'price'), 1.5)
      const entry = await app.app.inject('/api/provenance?record_id=a&field=price')
      const { at, ...rest } = entry.json<Record<string, unknown>>()
      assert.ok(at)
      assert.deepEqual(rest, {
        seq: 3,
        actor,
        source: 'revert',
        record_id: 'a',
        field: 'price',
        value: 1.5,
        previous: 7,
        reverts: 2,
      })
    },
  },
  {
    name: 'a cell that was written again is a conflict',
    given: (app) => after(app, write({ id: 'a', price: 7 }), write({ id: 'a', price: 8 })),
    request: revert({ actor, record_id: 'a', field: 'price', seq: 2 }),
    status: 200,
    body: { reverted: 0, conflicts: [{ record_id: 'a', field: 'price' }], run_id: null },
  },
  {
    name: 'a cell that has the value of an entry again, after later ones were reverted, can be reverted further',
    given: (app) =>
      after(
        app,
        write({ id: 'a', price: 7 }),
        write({ id: 'a', price: 8 }),
        revert({ actor, record_id: 'a', field: 'price', seq: 3 }),
      ),
    request: revert({ actor, record_id: 'a', field: 'price', seq: 2 }),
    status: 200,
    body: { reverted: 1, conflicts: [], run_id: null },
    then: async (app) => assert.equal(await valueOf(app, 'a', 'price'), 1.5),
  },
  {
    name: 'D7: reverting a manual value requires the permission to write the field',
    given: (app) => after(app, write({ id: 'a', owner_note: 'mine' }, 'agent:owner')),
    request: revert({ actor, record_id: 'a', field: 'owner_note', seq: 2 }),
    status: 403,
    error: ['PermissionDeniedError', /record "a", field "owner_note": .*"agent:test".*agent:owner/],
    then: async (app) => assert.equal(await valueOf(app, 'a', 'owner_note'), 'mine'),
  },
  {
    name: 'D7: and succeeds with it',
    given: (app) => after(app, write({ id: 'a', owner_note: 'mine' }, 'agent:owner')),
    request: revert({ actor: 'agent:owner', record_id: 'a', field: 'owner_note', seq: 2 }),
    status: 200,
    body: { reverted: 1, conflicts: [], run_id: null },
  },
  {
    name: 'deleted records are restored by their ids, without a run',
    given: (app) => after(app, materialize, remove('a', 'b')),
    request: revert({ actor, record_ids: ['a', 'b'] }),
    status: 200,
    body: { reverted: 2, conflicts: [], run_id: null },
    then: async (app, response) => {
      assert.equal(response.headers.location, undefined)
      assert.deepEqual([await valueOf(app, 'a', 'price'), await valueOf(app, 'b', 'rate')], [1.5, 0.9])
    },
  },
  {
    name: 'a deleted record is restored by the seq of its deletion',
    given: (app) => after(app, remove('a'), write({ id: 'a', title: 'new', price: 7 }), remove('a')),
    request: revert({ actor, record_id: 'a', seq: 2 }),
    status: 200,
    body: { reverted: 1, conflicts: [], run_id: null },
    then: async (app) => assert.equal(await valueOf(app, 'a', 'price'), 1.5),
  },
  {
    name: 'a record that exists is a conflict, and no other is restored',
    given: (app) => after(app, remove('b')),
    request: revert({ actor, record_ids: ['b', 'a'] }),
    status: 409,
    error: ['OperationError', /^record "a" exists; nothing was restored/],
    then: async (app) => assert.equal((await app.app.inject('/api/records/b')).statusCode, 404),
  },
  {
    name: 'a record that was never deleted',
    request: revert({ actor, record_ids: ['nobody'] }),
    status: 404,
    error: ['SheetError', /^the log has no deletion of a record "nobody"/],
  },
  {
    name: 'no records',
    request: revert({ actor, record_ids: [] }),
    status: 400,
    error: ['ValidationError', /^"record_ids" /],
  },
  {
    name: 'an unknown run',
    request: revert({ actor, run_id: '7' }),
    status: 404,
    error: ['SheetError', /^no run "7"/],
  },
  {
    name: 'an unknown record',
    request: revert({ actor, record_id: 'nobody', field: 'price', seq: 1 }),
    status: 404,
    error: ['SheetError', /^no record "nobody" has ever existed$/],
  },
  {
    name: 'an unknown entry',
    request: revert({ actor, record_id: 'a', field: 'price', seq: 99 }),
    status: 404,
    error: ['SheetError', /^record "a", field "price": there is no provenance entry 99/],
  },
  {
    name: 'an unknown field',
    request: revert({ actor, record_id: 'a', field: 'prize', seq: 1 }),
    status: 400,
    error: ['ValidationError', /"prize"/],
  },
  {
    name: 'the field id',
    request: revert({ actor, record_id: 'a', field: 'id', seq: 1 }),
    status: 400,
    error: ['ValidationError', /"id" cannot be reverted/],
  },
  ...[
    {},
    { run_id: '1', seq: 1 },
    { run_id: '1', record_id: 'a', field: 'price', seq: 1 },
    { record_id: 'a', field: 'price' },
    { record_ids: ['a'], seq: 1 },
    { record_ids: ['a'], run_id: '1' },
    { field: 'price', seq: 1 },
  ].map((body) => ({
    name: `neither a run nor a cell: ${JSON.stringify(body)}`,
    request: revert({ actor, ...body }),
    status: 400,
    error: ['ValidationError', EITHER] as const,
  })),
  {
    name: 'an invalid seq',
    request: revert({ actor, record_id: 'a', field: 'price', seq: 0 }),
    status: 400,
    error: ['ValidationError', /^"seq" is 0; expected the seq of a provenance entry$/],
  },
  {
    name: 'a misspelt member',
    request: revert({ actor, run: '1' }),
    status: 400,
    error: ['ValidationError', /"run".*run_id, actor, record_id, field, seq, record_ids/],
  },
  {
    name: 'D36: CSRF is checked before the shape',
    request: revert('{', {}),
    status: 403,
    error: ['PermissionDeniedError', /^CSRF token missing or invalid$/],
  },
  {
    name: 'D36: the shape is checked before the actor',
    request: revert({ record_id: 'a' }),
    status: 400,
    error: ['ValidationError', EITHER],
  },
  {
    name: 'D36: an empty actor is absent, and the actor is checked before the run is read',
    request: revert({ run_id: '7', actor: '' }),
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D3: an invalid derivation file is a ContractError',
    request: revert({ actor, run_id: '1' }),
    options: { files: { derivations: { 'rate.yaml': 'kind: nonsense\n' } } },
    status: 500,
    error: ['ContractError', /rate\.yaml/],
  },
])

test('a revert that fails has its run in Location as well', async (t) => {
  const directory = await writeSheet(t, {})
  const app = await startAppOver(t, await openTestSheetIn(t, directory))
  await after(app, materialize)
  const impatient = await startAppOver(t, await openImpatient(t, directory))
  const { store } = await app.sheet.current()
  // On PostgreSQL the lock of the run is free some time after its end.
  const lock = await store.lockRun(60_000, app.sheet.stopping)
  const response = await impatient.app.inject(revert({ actor, run_id: '1' }))
  lock.release()
  assert.equal(response.statusCode, 409)
  assert.equal(response.headers.location, '/api/runs/2')
  assert.equal(response.json<{ error: { type: string } }>().error.type, 'LockTimeoutError')
})

test('deleted records are listed in pages, until they are restored; an id that exists again says so', async (t) => {
  const { app } = await startApp(t)
  const send = async (request: InjectOptions): Promise<void> => {
    const { statusCode, body } = await app.inject(request)
    assert.equal(statusCode, 200, body)
  }
  await send(remove('c'))
  await send({ ...remove('a'), headers: { ...CSRF, 'x-svc-actor': 'human:bob' } })
  await send(write({ id: 'c', title: 'Other' }))
  const page = async (query: string) => (await app.inject(`/api/deleted?limit=1${query}`)).json()
  const first = await page('')
  assert.deepEqual(
    first.records.map(({ at: _, seq: __, ...record }: { at: string; seq: number }) => record),
    [
      {
        record_id: 'a',
        actor: 'human:bob',
        exists: false,
        values: { id: 'a', title: 'Apple', price: 1.5, currency: 'EUR' },
      },
    ],
  )
  const second = await page(`&cursor=${first.next_cursor}`)
  assert.deepEqual(
    [second.records[0].record_id, second.records[0].exists, second.next_cursor],
    ['c', true, null],
  )
  await send(revert({ actor, record_ids: ['a'] }))
  const { records } = (await app.inject('/api/deleted')).json()
  assert.deepEqual(
    records.map((record: { record_id: string }) => record.record_id),
    ['c'],
  )
  const twice = await app.inject(revert({ actor, record_ids: ['c'] }))
  assertEnvelope(twice, 'OperationError', /^record "c" exists; nothing was restored/)
  assertEnvelope(await app.inject('/api/deleted?cursor=x'), 'ValidationError', /cursor/)
})
