import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureGroup, groupId } from '../../src/errors/failure-group.ts'
import { CSRF, listen, runScenarios, startApp, type TestApp } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'

const actor = 'agent:test'

const run = (payload: object, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: '/api/materialize',
  headers: { 'content-type': 'application/json', ...CSRF, ...headers },
  payload: { actor, ...payload },
})

async function ranBefore({ app }: TestApp): Promise<void> {
  assert.equal((await app.inject(run({}))).statusCode, 200)
}

const FAILED = {
  record_id: 'c',
  field: 'rate',
  error: 'GET https://rates.example/XXX -> no stub response',
  error_type: 'ServiceError',
}

/** The group of that failure. */
const GROUP = {
  id: groupId(failureGroup({ error: FAILED.error, detail: 'no stub response', errorType: 'ServiceError' })),
  text: FAILED.error,
  error_type: 'ServiceError',
  reason: 'no_stub_response',
  cells: 1,
  fields: { rate: 1 },
  record_id: 'c',
}

const FINISHED = {
  id: '1',
  kind: 'materialize',
  reverts: null,
  state: 'finished',
  actor,
  targets: null,
  record_count: null,
  record_ids: null,
  force: false,
  overwrite_manual: false,
  only: null,
  limit: null,
  max_calls: null,
  max_cost: null,
  reuse_responses: false,
  stop_after_failures: null,
  done: 3,
  total: 3,
  materialized: 2,
  skipped: 0,
  failed: 1,
  calls: 3,
  total_cost: 0,
  unpriced_calls: 3,
  left: 0,
  manual_left: 0,
  manual_overwritten: 0,
  error: null,
  cancelled_by: null,
}

runScenarios('a dry run', [
  {
    name: 'returns the plan of a run, publishes nothing, needs no actor and leaves no run',
    request: { ...run({ dry_run: true }), payload: { dry_run: true } },
    status: 200,
    given: async () => undefined,
    body: { targets: { rate: { compute: 3, cached: 0, skipped: 0 } }, calls: 3, cost: 0, unpriced_calls: 3 },
    then: async ({ app }) => {
      assert.deepEqual((await app.inject('/api/runs')).json(), { runs: [], next_cursor: null })
      const status = (await app.inject('/api/status')).json<{ rate: { missing: number } }>()
      assert.equal(status.rate.missing, 3)
    },
  },
  {
    name: 'after a run: fresh cells are skipped, failed ones would be called again',
    request: run({ dry_run: true, targets: ['rate'] }),
    given: ranBefore,
    status: 200,
    body: { targets: { rate: { compute: 1, cached: 0, skipped: 2 } }, calls: 1, cost: 0, unpriced_calls: 1 },
  },
  {
    name: 'refuses the same requests as a run, without frames',
    request: run({ dry_run: true, targets: ['nope'] }),
    status: 400,
    error: ['OperationError', /"nope"/],
  },
  {
    name: 'requires the CSRF token, as every POST of this path',
    request: { method: 'POST', url: '/api/materialize', payload: { dry_run: true } },
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
])

const frames = (materialized: number, skipped: number, failures: number) => [
  { kind: 'materialize.start', actor, targets: null, recordIds: null, force: false },
  { kind: 'materialize.end', actor, materialized, skipped, failures, totalCost: 0 },
]

runScenarios('the bounds of a run', [
  {
    name: 'limit: a trial',
    request: run({ limit: 1 }),
    status: 200,
    body: { materialized: 1, skipped: 2, failures: [], total_cost: 0 },
    frames: frames(1, 2, 0),
  },
  {
    name: 'max_calls and max_cost',
    request: run({ max_calls: 2, max_cost: 0 }),
    status: 200,
    body: { materialized: 2, skipped: 1, failures: [], total_cost: 0 },
    frames: frames(2, 1, 0),
  },
  {
    name: 'only',
    request: run({ only: 'failed' }),
    given: ranBefore,
    status: 200,
    body: { materialized: 0, skipped: 2, failures: [FAILED], total_cost: 0 },
    frames: frames(0, 2, 1),
  },
  ...(
    [
      [{ limit: 0 }, /^"limit" is 0; expected a whole number, at least 1$/],
      [{ limit: 1.5 }, /^"limit" is 1.5; expected a whole number, at least 1$/],
      [{ max_calls: -1 }, /^"max_calls" is -1; expected a whole number, at least 0$/],
      [{ max_cost: '1' }, /^"max_cost" is "1"; expected a number of dollars, at least 0$/],
      [{ only: 'fresh' }, /^"only" is "fresh"; expected missing, stale or failed$/],
    ] as const
  ).map(([payload, message]) => ({
    name: `refused: ${JSON.stringify(payload)}`,
    request: run(payload),
    status: 400,
    error: ['ValidationError', message] as const,
  })),
])

const withoutTimes = (body: { started_at?: string; ended_at?: string | null }): object => {
  const { started_at: start, ended_at: end, ...rest } = body
  assert.match(String(start), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(end === null || end !== undefined)
  return rest
}

test('Location of the response is the run, also for an error', async (t) => {
  const { app } = await startApp(t)
  const done = await app.inject(run({}))
  assert.equal(done.headers['location'], '/api/runs/1')
  assert.deepEqual(withoutTimes((await app.inject('/api/runs/1')).json()), FINISHED)
  const refused = await app.inject(run({ targets: ['nope'] }))
  assert.equal(refused.headers['location'], undefined, 'a run that never began has none')
})

test('Prefer: respond-async returns 202 at once with the run, which continues', async (t) => {
  for (const prefer of ['respond-async', 'wait=5, Respond-Async', 'respond-async; x=1']) {
    const { app } = await startApp(t)
    const response = await app.inject(run({}, { prefer }))
    assert.equal(response.statusCode, 202)
    assert.equal(response.headers['location'], '/api/runs/1')
    assert.equal(response.headers['preference-applied'], 'respond-async')
    const { id, state } = response.json<{ id: string; state: string }>()
    assert.equal(id, '1')
    assert.ok(state === 'running' || state === 'finished')
    // The stream of the run ends with it.
    const port = await listen(app)
    const text = await (await fetch(`http://127.0.0.1:${port}/api/runs/1/events`)).text()
    assert.match(text, /\nevent: run\.end\ndata: .*"state":"finished".*\n\n$/)
    assert.deepEqual(withoutTimes((await app.inject('/api/runs/1')).json()), FINISHED)
  }
  const { app } = await startApp(t)
  assert.equal((await app.inject(run({}, { prefer: 'no-respond-async, respond-asyncX' }))).statusCode, 200)
  const refused = await app.inject(run({ targets: ['nope'] }, { prefer: 'respond-async' }))
  assert.equal(refused.statusCode, 400)
})

test('the stream of a run has its headers, its frames and its end', async (t) => {
  const { app } = await startApp(t)
  await app.inject(run({}))
  const client = await RawClient.open(t, await listen(app))
  client.send('GET /api/runs/1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await client.end()
  assert.match(client.received, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(client.received, /^content-type: text\/event-stream/im)
  assert.match(client.received, /^set-cookie: svc_csrf=/im)
  assert.match(client.received, /: connected\n\n/)
  assert.match(client.received, /event: run\.end\ndata: \{"id":"1",/)
})

test('a client that disconnects does not stop its run', async (t) => {
  const { app, takeFrames } = await startApp(t)
  const client = await RawClient.open(t, await listen(app))
  const body = JSON.stringify({ actor })
  client.send(
    `POST /api/materialize HTTP/1.1\r\nHost: localhost\r\nX-CSRF-Token: token\r\nCookie: svc_csrf=token\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const kinds: string[] = []
  while (!kinds.includes('materialize.end')) {
    kinds.push(...(await takeFrames()).map(({ kind }) => kind))
    if (kinds.length > 0) client.socket.destroy()
    await new Promise(setImmediate)
  }
  assert.deepEqual(kinds, ['materialize.start', 'materialize.end'])
  assert.deepEqual(withoutTimes((await app.inject('/api/runs/1')).json()), FINISHED)
})

runScenarios('GET /api/failures', [
  {
    name: 'groups the failed cells of the records that match, and a condition selects these records',
    request: { url: '/api/failures?filter=id%3D%27c%27' },
    given: ranBefore,
    status: 200,
    body: { cells: 1, groups: [GROUP] },
    then: async ({ app }) => {
      const listed = async (url: string): Promise<readonly string[]> =>
        (await app.inject(url)).json<{ records: { id: string }[] }>().records.map(({ id }) => id)
      const where = (fields: readonly string[]): string =>
        encodeURIComponent(JSON.stringify({ failure: [GROUP.id], fields }))
      assert.deepEqual(await listed(`/api/records?where=${where(['rate'])}`), ['c'])
      assert.deepEqual((await app.inject(`/api/failures?where=${where(['rate'])}`)).json(), {
        cells: 1,
        groups: [GROUP],
      })
      assert.deepEqual((await app.inject('/api/failures?filter=false')).json(), { cells: 0, groups: [] })
      const { message } = (await app.inject(`/api/failures?where=${where(['title'])}`)).json().error
      assert.match(message, /"title"/)
    },
  },
  {
    name: 'groups the failures of a run, which are listed by group',
    request: { url: '/api/failures?run=1' },
    given: ranBefore,
    status: 200,
    body: { cells: 1, groups: [GROUP] },
    then: async ({ app }) => {
      const idsOf = async (group: string): Promise<readonly string[]> =>
        (await app.inject(`/api/runs/1/failures?group=${group}`))
          .json<{ failures: { record_id: string }[] }>()
          .failures.map((failure) => failure.record_id)
      assert.deepEqual(await idsOf(GROUP.id), ['c'])
      assert.deepEqual(await idsOf('0000000000000'), [])
    },
  },
  {
    name: 'refuses a run beside a filter',
    request: { url: '/api/failures?run=1&filter=true' },
    status: 400,
    error: ['ValidationError', /^run cannot be combined with filter or where/],
  },
  {
    name: 'does not know other runs',
    request: { url: '/api/failures?run=99' },
    status: 404,
    error: ['SheetError', /^no run "99"/],
  },
])

test('runs and their failures are listed by pages', async (t) => {
  const { app } = await startApp(t)
  for (let count = 0; count < 3; count++) await app.inject(run({}))
  const first = (await app.inject('/api/runs?limit=2')).json<{
    runs: { id: string }[]
    next_cursor: string
  }>()
  assert.deepEqual(
    first.runs.map(({ id }) => id),
    ['3', '2'],
  )
  const second = (await app.inject(`/api/runs?limit=2&cursor=${first.next_cursor}`)).json()
  assert.deepEqual([second.runs.length, second.next_cursor], [1, null])
  const { failures, next_cursor: next } = (await app.inject('/api/runs/1/failures')).json()
  assert.equal(next, null)
  assert.match(failures[0].at, /Z$/)
  assert.deepEqual(failures, [
    { ...FAILED, detail: 'no stub response', reason: 'no_stub_response', at: failures[0].at },
  ])
})

runScenarios('unknown runs', [
  ...['/api/runs/1', '/api/runs/1/failures', '/api/runs/1/events', '/api/runs/x%2Fy'].map((url) => ({
    name: `GET ${url}`,
    request: { url },
    status: 404,
    error: ['SheetError', /^no run "/] as const,
  })),
  {
    name: 'cancel',
    request: { method: 'POST', url: '/api/runs/1/cancel', headers: CSRF, payload: { actor } },
    status: 404,
    error: ['SheetError', /^no run "1"/],
  },
  {
    name: 'cancel without a token',
    request: { method: 'POST', url: '/api/runs/1/cancel', payload: { actor } },
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
  {
    name: 'cancel without an actor',
    request: { method: 'POST', url: '/api/runs/1/cancel', headers: CSRF },
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'an invalid limit',
    request: { url: '/api/runs?limit=0' },
    status: 400,
    error: ['ValidationError', /limit/],
  },
  {
    name: 'an invalid cursor',
    request: { url: '/api/runs?cursor=AAAA' },
    status: 400,
    error: ['ValidationError', /cursor/],
  },
])

test('a run that has ended cannot be cancelled', async (t) => {
  const { app } = await startApp(t)
  await app.inject(run({}))
  const response = await app.inject({
    method: 'POST',
    url: '/api/runs/1/cancel',
    headers: CSRF,
    payload: { actor },
  })
  assert.equal(response.statusCode, 400)
  assert.match(response.body, /run 1 is not running any more, it is finished/)
})
