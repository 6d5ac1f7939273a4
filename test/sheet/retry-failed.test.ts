import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { toCellExplanationAnswer } from '../../src/wire/runs/status.ts'
import { toRunPlanAnswer } from '../../src/wire/runs/materialize.ts'
import { contractText } from '../support/contract-with.ts'
import { lookup, openRunSheet, writeDerivations, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false } as const
const DAY = 86_400_000

/** A sheet whose clock a test can put ahead. `b` is looked up by `a`, and not tried again for a week when it fails for good. */
async function open(t: TestContext): Promise<{ run: RunSheet; clock: { ahead: number } }> {
  const clock = { ahead: 0 }
  const run = await openRunSheet(
    t,
    {
      properties: ['a: string', '{name: b, logicalType: string, logicalTypeOptions: {maxLength: 9}}'],
      records: ['1', '2', '3'].map((id) => ({ id, a: id })),
      derivations: (url) => ({ 'b.yaml': { ...lookup(url, 'b', 'a'), retry_failed_after: '7d' } }),
    },
    { now: () => Date.now() + clock.ahead },
  )
  return { run, clock }
}

test('retry_failed_after: runs skip a permanent failure until its time, which plan and explanation have', async (t) => {
  const { run, clock } = await open(t)
  run.api.answer('/b/2', { json: null, status: 503 })
  run.api.answer('/b/3', { json: { value: 'longer than allowed' } })
  assert.equal((await run.run()).failures.length, 3)
  const { failure } = await explainCell(run.sheet, 'b', '1')
  const due = new Date(Date.parse(failure?.at ?? '') + 7 * DAY).toISOString()
  assert.equal(failure?.retryAt, due)
  assert.equal(toCellExplanationAnswer(await explainCell(run.sheet, 'b', '1')).failure?.retry_at, due)
  assert.equal((await explainCell(run.sheet, 'b', '2')).failure?.retryAt, undefined)

  const plan = toRunPlanAnswer(await planMaterialize(run.sheet, ALL))
  const later = plan.targets['b']?.retry_later
  assert.deepEqual([plan.calls, later?.cells], [1, 2])
  assert.ok(later?.next !== null && later?.next !== undefined && later.next <= due)
  const calls = run.api.requests.length
  const { skipped, failures } = await run.run()
  assert.deepEqual([skipped, failures.length, run.api.requests.length - calls], [2, 1, 1])
  assert.deepEqual(await run.counts('b'), { failed: 3 })

  clock.ahead = 8 * DAY
  assert.equal((await planMaterialize(run.sheet, ALL)).calls, 3)
  assert.equal((await explainCell(run.sheet, 'b', '1')).failure?.retryAt, undefined)
})

test('retry_failed_after: an edit of the contract makes the values due that it refused, one of the derivation makes all due', async (t) => {
  const { run } = await open(t)
  run.api.answer('/b/3', { json: { value: 'longer than allowed' } })
  await run.run()
  const plannedCalls = async (): Promise<number> => (await planMaterialize(run.sheet, ALL)).calls
  assert.equal(await plannedCalls(), 0)
  await run.edit(
    'contract.yaml',
    contractText(['{name: a, logicalType: string}', '{name: b, logicalType: string}']),
  )
  assert.equal(await plannedCalls(), 1)
  assert.equal((await run.run()).materialized, 1)
  await run.write({ id: '1', a: 'other' })
  assert.equal(await plannedCalls(), 1)
  const file = { ...lookup(run.api.url, 'b', 'a'), retry_failed_after: 'never' }
  await writeDerivations(run.directory, { 'b.yaml': file })
  assert.equal(await plannedCalls(), 3)
  await run.run()
  assert.equal(await plannedCalls(), 0)
  assert.equal((await explainCell(run.sheet, 'b', '2')).failure?.retryAt, null)
  assert.equal((await planMaterialize(run.sheet, { ...ALL, only: 'failed' })).calls, 2)
})
