import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSRF, runScenarios, startApp, type TestApp } from '../support/http-fixture.ts'

const run = (payload: object | string, headers: Record<string, string> = CSRF) => ({
  method: 'POST' as const,
  url: '/api/materialize',
  headers: { 'content-type': 'application/json', ...headers },
  payload,
})

const actor = 'agent:test'
const start = { kind: 'materialize.start', actor, targets: null, recordIds: null, force: false }
const end = { kind: 'materialize.end', actor, materialized: 0, skipped: 0, failures: 0, totalCost: 0 }
const noStub = {
  record_id: 'c',
  field: 'rate',
  error: 'GET https://rates.example/XXX -> no stub response',
  error_type: 'ServiceError',
}

const brokenDerivation = { derivations: { 'rate.yaml': 'kind: nonsense\n' } }

async function ranBefore({ app }: TestApp): Promise<void> {
  const response = await app.inject(run({ actor }))
  assert.equal(response.statusCode, 200)
}

runScenarios('runs', [
  {
    name: 'D41: a run computes cells, lists failures, and publishes start and end',
    request: run({ actor }),
    status: 200,
    body: { materialized: 2, skipped: 0, failures: [noStub], total_cost: 0 },
    frames: [start, { ...end, materialized: 2, failures: 1 }],
  },
  {
    name: 'D30: the response of a run without pending cells has the same four members',
    request: run({ actor, record_ids: ['a'] }),
    given: ranBefore,
    status: 200,
    body: { materialized: 0, skipped: 1, failures: [], total_cost: 0 },
    frames: [
      { ...start, recordIds: ['a'] },
      { ...end, skipped: 1 },
    ],
  },
  {
    name: 'the start frame has the filters of the request',
    request: run({ actor, targets: ['rate'], record_ids: ['b'], force: true }),
    given: ranBefore,
    status: 200,
    body: { materialized: 1, skipped: 0, failures: [], total_cost: 0 },
    frames: [
      { ...start, targets: ['rate'], recordIds: ['b'], force: true },
      { ...end, materialized: 1 },
    ],
  },
  {
    name: 'D28: overwriting manual values requires the permission to write them, else the run is a 403',
    request: run({ actor, force: true, overwrite_manual: true }),
    options: { files: { records: [{ id: 'a', title: 'Apple', currency: 'EUR', rate: 2 }] } },
    status: 403,
    error: [
      'PermissionDeniedError',
      /^actor "agent:test" may not overwrite "rate" \(1 written by hand; .*editableBy/,
    ],
    frames: [
      { ...start, force: true },
      {
        kind: 'materialize.error',
        actor,
        errorType: 'PermissionDeniedError',
        message:
          'actor "agent:test" may not overwrite "rate" (1 written by hand; it is derived, and nobody may write it unless its property in contract.yaml has editableBy); leave out overwrite_manual, which keeps these values, or select other targets',
      },
    ],
  },
  {
    name: 'overwrite_manual without force is a ValidationError',
    request: run({ actor, overwrite_manual: true }),
    status: 400,
    error: ['ValidationError', /^overwrite_manual goes with force/],
    frames: [],
  },
  {
    name: 'D36: null for targets, record_ids, force and actor is absent',
    request: run({ actor: null, targets: null, record_ids: null, force: null }),
    options: { sheet: { defaultActor: actor } },
    status: 200,
    body: { materialized: 2, skipped: 0, failures: [noStub], total_cost: 0 },
    frames: [start, { ...end, materialized: 2, failures: 1 }],
  },
  {
    name: 'D29: empty lists select nothing',
    request: run({ actor, targets: [], record_ids: [] }),
    status: 200,
    body: { materialized: 0, skipped: 0, failures: [], total_cost: 0 },
    frames: [{ ...start, targets: [], recordIds: [] }, end],
  },
  {
    name: 'D29: a record that does not exist is a failure entry, not an error',
    request: run({ actor, record_ids: ['nobody'] }),
    status: 200,
    body: {
      materialized: 0,
      skipped: 0,
      failures: [
        { record_id: 'nobody', field: 'rate', error: 'no record "nobody"', error_type: 'SheetError' },
      ],
      total_cost: 0,
    },
    frames: [
      { ...start, recordIds: ['nobody'] },
      { ...end, failures: 1 },
    ],
  },
  {
    name: 'D40: a run that fails publishes start and error, and no end',
    request: run({ actor, targets: ['title'] }),
    status: 400,
    error: ['OperationError', /"title"/],
    frames: [
      { ...start, targets: ['title'] },
      {
        kind: 'materialize.error',
        actor,
        errorType: 'OperationError',
        message: 'no derivation has the target "title"; targets are rate',
      },
    ],
  },
  {
    name: 'D36: a body of null is not an empty body',
    request: run('null'),
    options: { sheet: { defaultActor: actor } },
    status: 400,
    error: ['ValidationError', /^the body is null; a JSON object is expected$/],
  },
  {
    name: 'D40: a CSRF error publishes nothing',
    request: run({ actor }, {}),
    status: 403,
    error: ['PermissionDeniedError', /^CSRF token missing or invalid$/],
  },
  {
    name: 'D40: an error of the shape publishes nothing; a misspelt member does not run everything',
    request: run({ actor, target: ['rate'] }),
    status: 400,
    error: ['ValidationError', /"target".*targets, record_ids, force, actor/],
  },
  {
    name: 'D40: an error of the actor publishes nothing',
    request: run({}),
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
  {
    name: 'D39: an actor with a control character publishes nothing',
    request: run({ actor: 'agent:\u0007' }),
    status: 400,
    error: ['ValidationError', /actor/],
  },
  {
    name: 'D36: a request without a body is {}',
    request: { method: 'POST', url: '/api/materialize', headers: CSRF },
    options: { sheet: { defaultActor: actor }, files: { derivations: {} } },
    status: 200,
    body: { materialized: 0, skipped: 0, failures: [], total_cost: 0 },
    frames: [start, end],
  },
  {
    name: 'D36: CSRF is checked before the shape',
    request: run('{', {}),
    status: 403,
    error: ['PermissionDeniedError', /CSRF/],
  },
  {
    name: 'D36: the shape is checked before the actor',
    request: run({ force: 'yes' }),
    status: 400,
    error: ['ValidationError', /^"force" is "yes"; expected true or false$/],
  },
  {
    name: 'D36: the actor is checked before the contract',
    request: run({}),
    options: { files: brokenDerivation },
    status: 400,
    error: ['ValidationError', /^actor is required$/],
  },
])

test('a broken derivation is a ContractError that is published as materialize.error', async (t) => {
  const { app, takeFrames, logged } = await startApp(t, { files: brokenDerivation })
  const response = await app.inject(run({ actor }))
  assert.equal(response.statusCode, 500)
  const { error } = response.json<{ error: { type: string; message: string } }>()
  assert.equal(error.type, 'ContractError')
  assert.match(error.message, /rate\.yaml/)
  assert.deepEqual(
    (await takeFrames()).map(({ kind }) => kind),
    ['materialize.start', 'materialize.error'],
  )
  assert.deepEqual(
    logged.map(({ message }) => message),
    [error.message],
  )
})
