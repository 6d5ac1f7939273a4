import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import {
  BatchMeasureKind,
  COST_OF_CHARACTER,
  MeasureKind,
  METER,
  METER_LIMITS,
  MOST_COST,
} from '../../src/derivation/testing/measure-kind.ts'
import { BATCH_SIZE } from '../../src/derivation/run/batches.ts'
import { createApp } from '../../src/http/app.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { NetworkTransport } from '../../src/sheet/transports.ts'
import { checkAnswers } from '../support/check-answers.ts'
import { onEnd } from '../support/on-end.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false }

/** Opens a sheet whose `length` a kind measures that has nothing of http; `counted`: and the `digits` of that. */
async function openMeasured(
  t: TestContext,
  texts: readonly (string | null)[],
  { kind = new MeasureKind(), transport = new NetworkTransport(), counted = false } = {},
): Promise<RunSheet> {
  const file = { kind: kind.name, unit: 'characters' }
  const files = {
    properties: ['text: string', 'length: integer', 'digits: integer'],
    records: texts.map((text, index) => ({ id: String(index + 1), text })),
    derivations: () => ({
      'length.yaml': { ...file, targets: ['length'], inputs: ['text'], field: 'text' },
      ...(counted && {
        'digits.yaml': { ...file, targets: ['digits'], inputs: ['length'], field: 'length' },
      }),
    }),
  }
  return openRunSheet(t, files, { kinds: [kind], transport })
}

test('a kind unrelated to http is planned, run, cached, explained and logged like any other', async (t) => {
  const kind = new MeasureKind()
  const run = await openMeasured(t, ['one', 'three', 'one', null, 'boundless'], { kind })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost, plan.targets['length']?.blocked], [3, 0.3, { input_empty: 1 }])

  const { materialized, failures, totalCost } = await run.run()
  assert.deepEqual([materialized, totalCost], [3, 0.108])
  assert.deepEqual(
    failures.map(({ recordId, error }) => [recordId, error]),
    [['5', 'measure characters of boundless -> it has no end']],
  )
  assert.deepEqual(kind.measured.toSorted(), ['boundless', 'one', 'three'])
  assert.deepEqual(await run.counts('length'), { fresh: 3, missing: 1, failed: 1 })
  const entry = (await run.entry('2', 'length')) ?? {}
  assert.deepEqual(
    [entry['source'], entry['actor'], entry['value'], entry['derivation'], evidenceOf(entry)],
    ['measure', 'agent:runner', 5, 'length.yaml', { unit: 'characters', characters: 5 }],
  )

  await run.write({ id: '6', text: 'one' })
  assert.equal((await planMaterialize(run.sheet, { ...ALL, recordIds: ['6'] })).calls, 0)
  await run.run({ recordIds: ['6'] })
  assert.deepEqual([await run.value('6', 'length'), kind.measured.length], [3, 3])

  await run.write({ id: '2', text: 'seven' })
  assert.deepEqual((await explainCell(run.sheet, 'length', '2')).reasons, [
    { part: 'input', field: 'text', was: 'three', is: 'seven' },
    { part: 'member', name: 'text', was: 'three', is: 'seven' },
  ])
})

test('max_cost is used up by what computations cost, though far more is reserved while they are under way', async (t) => {
  const texts = Array.from({ length: 40 }, (_, index) => `${index}`.padStart(10, '.'))
  for (const kind of [new MeasureKind(), new BatchMeasureKind()]) {
    const run = await openMeasured(t, texts, { kind })
    // Each reserves a tenth of a dollar and costs a hundredth: after eleven there is no room for another estimate.
    const { materialized, totalCost } = await run.run({ maxCost: 0.205 })
    assert.deepEqual([materialized, totalCost, kind.measured.length], [11, 0.11, 11])
    const [stored] = (await listRuns(run.sheet, { limit: 1, cursor: null })).runs
    assert.equal(stored?.totalCost, totalCost)
  }
})

test('a kind uses the limiter that all kinds share', async (t) => {
  const kind = new MeasureKind()
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`)
  const run = await openMeasured(t, texts, { kind })
  assert.equal((await run.run()).materialized, 40)
  assert.ok(kind.peak <= METER_LIMITS.concurrency, `${kind.peak} at a time`)
})

test('a kind that computes in batches gets many cells at a time, with the same results as one by one', async (t) => {
  const kind = new BatchMeasureKind()
  const texts = [...Array.from({ length: 600 }, (_, index) => 'x'.repeat(index % 300)), null, 'boundless']
  const run = await openMeasured(t, texts, { kind })
  const { materialized, failures, totalCost } = await run.run()
  assert.deepEqual([materialized, failures.length], [600, 1])
  // Equal texts are one computation, in a batch as elsewhere.
  assert.equal(kind.measured.length, 301)
  assert.ok(kind.batches.length < 301 && Math.max(...kind.batches) <= BATCH_SIZE, kind.batches.join())
  assert.equal(totalCost, Math.round((44_850 * COST_OF_CHARACTER + MOST_COST) * 1e9) / 1e9)
  assert.equal(await run.value('300', 'length'), 299)

  await run.write({ id: '1', text: 'again' })
  assert.equal((await run.run({ maxCost: 0.05 })).materialized, 0)
  assert.equal((await run.run({ recordIds: ['1'], maxCalls: 1 })).materialized, 1)
})

test('the part of an estimate that a computation did not cost is available to the next', async (t) => {
  const run = await openMeasured(t, ['.'.repeat(10), '_'.repeat(10)], { counted: true })
  const { materialized, totalCost } = await run.run({ maxCost: 0.205 })
  assert.deepEqual([materialized, totalCost], [4, 0.022])
})

test('the resources of a kind are refused like those of http, and reported', async (t) => {
  const kind = new MeasureKind()
  const transport = new NetworkTransport({ allowedHosts: new Set(['other.example']) })
  const run = await openMeasured(t, ['one'], { kind, transport })
  const refusal = `--allow-net does not list ${METER}`
  assert.deepEqual(await usedResources(run.sheet), [
    { type: 'file', name: 'units.csv', refusal: null },
    { type: 'host', name: METER, refusal },
  ])
  assert.equal((await planMaterialize(run.sheet, ALL)).calls, 0)
  const { failures } = await run.run()
  assert.deepEqual(
    failures.map(({ error }) => error),
    [`measure characters of one -> refused: ${refusal}`],
  )
  assert.deepEqual(kind.measured, [])
})

test('REST responses for a kind unrelated to http match their schemas', async (t) => {
  const run = await openMeasured(t, ['one', null])
  const app = createApp(run.sheet)
  checkAnswers(t, app, run.sheet)
  onEnd(t, () => app.close())
  await run.run()
  await run.write({ id: '1', text: 'another' })
  const get = async (url: string): Promise<Record<string, unknown>> => {
    const response = await app.inject(url)
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }
  const { derivations } = await get('/api/derivations')
  const [{ hosts, resources, kind }] = derivations as [Record<string, unknown>]
  assert.deepEqual([kind, hosts, resources], ['measure', [METER], [{ type: 'file', name: 'units.csv' }]])
  const { unit, characters } = await get('/api/provenance?record_id=1&field=length')
  assert.deepEqual([unit, characters], ['characters', 3])
  const { reasons } = await get('/api/status/length/1')
  assert.deepEqual(reasons, [
    { part: 'input', field: 'text', was: 'one', is: 'another' },
    { part: 'member', name: 'text', was: 'one', is: 'another' },
  ])
})

test('a kind cannot be called write, delete or revert, the sources of other entries', async (t) => {
  for (const name of ['write', 'delete', 'revert']) {
    await assert.rejects(openMeasured(t, [], { kind: new MeasureKind(name) }), /cannot be called/)
  }
})
