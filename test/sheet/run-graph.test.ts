import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { perEngine, skipOnPostgres } from '../support/engine.ts'
import {
  answerLookups,
  lookup,
  openRunSheet,
  writeDerivations,
  type RunSheet,
} from '../support/run-fixture.ts'

/** A sheet whose `c` is looked up by `b`, `b` by `a`, and `d` by `c`; file names stand against that order. */
async function openChain(t: TestContext, records: readonly JsonObject[]): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records,
    derivations: (url) => ({
      '1.yaml': lookup(url, 'd', 'c'),
      '2.yaml': lookup(url, 'c', 'b'),
      '3.yaml': lookup(url, 'b', 'a'),
    }),
  })
  answerLookups(run.api)
  return run
}

const ENCODED = { x: 'x', '<x>': '%3Cx%3E', '<<x>>': '%3C%3Cx%3E%3E' }

test('D27: fields computed from computed fields are computed after them, in one run', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, [{ id: '1', a: 'x' }, { id: '2' }])
  assert.deepEqual(await run.run(), { materialized: 3, skipped: 3, failures: [], totalCost: 0 })
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: '<x>', c: '<<x>>', d: '<<<x>>>' })
  const asked = run.api.requests.map(({ path }) => path)
  assert.deepEqual(asked, [`/b/x`, `/c/${ENCODED['<x>']}`, `/d/${ENCODED['<<x>>']}`])

  // An answer that is the value already leaves what depends on it fresh.
  run.api.answer('/b/y', { json: { value: '<x>' } })
  await run.write({ id: '1', a: 'y' })
  assert.deepEqual(await run.run(), { materialized: 1, skipped: 5, failures: [], totalCost: 0 })
  assert.equal(run.api.requests.length, 4)
  assert.deepEqual(await run.counts('c'), { fresh: 1, missing: 1 })
})

for (const force of [false, true]) {
  test(`D27: where an input failed in this run, all that depends on it is skipped${force ? ', also with force' : ''}`, async (t) => {
    const run = await openChain(t, [
      { id: 'bad', a: 'bad' },
      { id: 'good', a: 'x' },
    ])
    await run.run()
    await run.write({ id: 'bad', a: 'worse' })
    const before = run.api.requests.length
    run.api.answer('/b/worse', { json: null, status: 500 })
    const { failures, skipped } = await run.run({ force })
    assert.deepEqual(
      failures.map(({ recordId, field }) => [recordId, field]),
      [['bad', 'b']],
    )
    assert.equal(skipped, force ? 2 : 5)
    const asked = run.api.requests.slice(before).map(({ path }) => path)
    assert.deepEqual(
      asked.filter((path) => path.includes('bad')),
      [],
    )
    assert.deepEqual(await run.record('bad'), {
      id: 'bad',
      a: 'worse',
      b: '<bad>',
      c: '<<bad>>',
      d: '<<<bad>>>',
    })
  })
}

test('D27: cells that depend on a failed input through a body are skipped too, and computed once the input has a value', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': {
        targets: ['c'],
        inputs: ['b'],
        kind: 'http',
        method: 'POST',
        url: `${url}/c`,
        body_template: ['{{ b }}'],
        response_path: '0',
      },
      'd.yaml': {
        targets: ['d'],
        inputs: ['c'],
        kind: 'http',
        method: 'POST',
        url: `${url}/d`,
        body_template: ['{{ c }}'],
        response_path: '0',
      },
    }),
  })
  for (const path of ['/c', '/d']) run.api.answer(path, ({ body }) => ({ text: body }))
  const first = await run.run()
  assert.deepEqual([first.failures.length, first.skipped], [1, 2])
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
  run.api.answer('/b/x', { json: { value: 'B' } })
  assert.deepEqual(await run.run(), { materialized: 3, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: 'B', c: 'B', d: 'B' })
})

test('D27: naming targets selects no others, in neither direction', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, [{ id: '1', a: 'x' }])
  assert.deepEqual(await run.run({ targets: ['c'] }), {
    materialized: 0,
    skipped: 1,
    failures: [],
    totalCost: 0,
  })
  assert.deepEqual(run.api.calls(), {})
  await run.run({ targets: ['b'] })
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: '<x>', c: null, d: null })
  await run.run({ targets: ['d', 'c'] })
  assert.equal(await run.value('1', 'd'), '<<<x>>>')
  await run.write({ id: '1', a: 'y' })
  assert.deepEqual(await run.run({ targets: ['c', 'd'] }), {
    materialized: 0,
    skipped: 2,
    failures: [],
    totalCost: 0,
  })
  assert.deepEqual([await run.counts('b'), await run.counts('c')], [{ stale: 1 }, { fresh: 1 }])
  await run.run({ targets: ['b'] })
  assert.deepEqual(
    [await run.counts('b'), await run.counts('c'), await run.counts('d')],
    [{ fresh: 1 }, { stale: 1 }, { fresh: 1 }],
  )
})

test('D20: a cycle is reported field by field, stops contract, upsert, status and runs, until it is fixed', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openChain(t, [{ id: '1', a: 'x' }])
  await writeDerivations(run.directory, { '3.yaml': lookup(run.api.url, 'b', 'd') })
  const cycle = {
    type: 'ContractError',
    message:
      'derivations form a cycle: d -> b -> c -> d (derivations/1.yaml, derivations/3.yaml, derivations/2.yaml); ' +
      'a field cannot be computed from itself',
  }
  await assert.rejects(run.start(), cycle)
  assert.deepEqual(
    (await run.frames()).map(({ ts: _, ...frame }) => frame),
    [
      { kind: 'materialize.start', actor: 'agent:runner', targets: null, recordIds: null, force: false },
      {
        kind: 'materialize.error',
        actor: 'agent:runner',
        errorType: 'ContractError',
        message: cycle.message,
      },
    ],
  )
  await assert.rejects(run.status('b'), cycle)
  await assert.rejects(run.write({ id: '2' }), cycle)
  assert.equal(await run.value('1', 'a'), 'x')
  await writeDerivations(run.directory, { '3.yaml': lookup(run.api.url, 'b', 'a') })
  await run.run()
  assert.equal(await run.value('1', 'd'), '<<<x>>>')
})

/** Fewer where each commit is a round trip more. */
const MANY = perEngine({ sqlite: 600, postgres: 300 })

test(`H3, D25, D30: ${MANY} records with two derivations are ${2 * MANY} calls, at most 8 at a time, each once`, async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: Array.from({ length: MANY }, (_, index) => ({ id: `r${index}`, a: `${index}` })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'a') }),
  })
  answerLookups(run.api)
  assert.deepEqual(await run.run(), { materialized: 2 * MANY, skipped: 0, failures: [], totalCost: 0 })
  assert.ok(run.api.peak <= 8, `${run.api.peak} calls at a time`)
  assert.ok(run.api.peak > 1, 'calls go out side by side')
  assert.equal(run.api.requests.length, 2 * MANY)
  assert.equal(Object.keys(run.api.calls()).length, 2 * MANY)
  assert.deepEqual([await run.counts('b'), await run.counts('c')], [{ fresh: MANY }, { fresh: MANY }])
  for (const index of [0, 255, 256, MANY - 1]) {
    const expected = { id: `r${index}`, a: `${index}`, b: `<${index}>`, c: `<${index}>` }
    assert.deepEqual(await run.record(`r${index}`), expected)
  }
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 2 * MANY, failures: [], totalCost: 0 })
  assert.equal(run.api.requests.length, 2 * MANY)
})
