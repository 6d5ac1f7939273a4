import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame } from '../../src/events/frame.ts'
import type { MaterializeRequest } from '../../src/sheet/runs/materialize.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'

const RECORDS = [{ id: '1', a: 'x' }, { id: '2', a: 'bad' }, { id: '3' }]

interface Scenario {
  readonly name: string
  readonly request: Partial<MaterializeRequest>
  readonly frames: readonly object[]
}

const START = {
  kind: 'materialize.start',
  actor: 'agent:runner',
  targets: null,
  recordIds: null,
  force: false,
}
const END = {
  kind: 'materialize.end',
  actor: 'agent:runner',
  materialized: 0,
  skipped: 0,
  failures: 0,
  totalCost: 0,
}
const UNKNOWN = 'no derivation has the target "nope"; targets are b'

const SCENARIOS: readonly Scenario[] = [
  { name: 'a run', request: {}, frames: [START, { ...END, materialized: 1, skipped: 1, failures: 1 }] },
  {
    name: 'a forced run with filters, as requested',
    request: { targets: ['b', 'b'], recordIds: ['1', 'no', '1'], force: true },
    frames: [
      { ...START, targets: ['b', 'b'], recordIds: ['1', 'no', '1'], force: true },
      { ...END, materialized: 1, failures: 1 },
    ],
  },
  {
    name: 'an empty run',
    request: { targets: [], recordIds: [] },
    frames: [{ ...START, targets: [], recordIds: [] }, END],
  },
  {
    name: 'the default actor',
    request: { actor: null, recordIds: ['3'] },
    frames: [
      { ...START, actor: 'agent:default', recordIds: ['3'] },
      { ...END, actor: 'agent:default', skipped: 1 },
    ],
  },
  {
    name: 'an unknown target',
    request: { targets: ['nope'] },
    frames: [
      { ...START, targets: ['nope'] },
      { kind: 'materialize.error', actor: 'agent:runner', errorType: 'OperationError', message: UNKNOWN },
    ],
  },
  { name: 'an actor with a control character', request: { actor: 'agent:\u0007' }, frames: [] },
  { name: 'an actor of 201 characters', request: { actor: 'x'.repeat(201) }, frames: [] },
]

test('D40: a run publishes start, then end or error; an invalid actor publishes nothing', async (t) => {
  const run = await openLookupSheet(t, RECORDS, { defaultActor: 'agent:default' })
  run.api.answer('/b/bad', { json: null, status: 500 })
  for (const { name, request, frames } of SCENARIOS) {
    await t.test(name, async () => {
      await run.start(request).catch(() => undefined)
      assert.deepEqual(await framesWithoutTime(run), frames)
    })
  }
})

test('D39, D40: without an actor and a default a run is refused and publishes nothing', async (t) => {
  const run = await openLookupSheet(t, RECORDS)
  for (const actor of [null, '']) {
    await assert.rejects(run.start({ actor }), { type: 'ValidationError', message: 'actor is required' })
  }
  assert.deepEqual(await run.frames(), [])
  assert.deepEqual(run.api.calls(), {})
})

test('D40, D3: a run over an invalid contract publishes start and error', async (t) => {
  const run = await openLookupSheet(t, RECORDS)
  await run.edit('contract.yaml', null)
  await assert.rejects(run.start(), { type: 'ContractError' })
  await run.edit('contract.yaml', 'kind: [')
  await assert.rejects(run.start(), { type: 'ContractError' })
  assert.deepEqual(
    (await run.frames()).map((frame) => [frame.kind, 'errorType' in frame ? frame.errorType : null]),
    [
      ['materialize.start', null],
      ['materialize.error', 'ContractError'],
      ['materialize.start', null],
      ['materialize.error', 'ContractError'],
    ],
  )
})

async function framesWithoutTime(run: RunSheet): Promise<object[]> {
  return (await run.frames()).map(({ ts, ...frame }: Frame) => {
    assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    return frame
  })
}
