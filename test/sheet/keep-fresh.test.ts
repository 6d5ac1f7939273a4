import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperationError, ValidationError } from '../../src/errors/service-error.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { startRevert } from '../../src/sheet/runs/revert.ts'
import { openLookupSheet, type RunSheet } from '../support/run-fixture.ts'

const KEEP = { keepFresh: 'b.yaml' }
const WHOLE = { targets: null, recordIds: null, force: false }

async function edit(run: RunSheet): Promise<void> {
  await run.edit('derivations/b.yaml', (text) => `# edited\n${text}`)
}

test('the cells of an edited file are marked as fresh without a call, and their provenance records it', async (t) => {
  const run = await openLookupSheet(
    t,
    ['1', '2'].map((id) => ({ id, a: `x${id}` })),
  )
  await run.run()
  const before = await run.entry('1', 'b')
  await edit(run)
  assert.deepEqual(await run.counts('b'), { stale: 2 })
  assert.deepEqual(await planMaterialize(run.sheet, { ...WHOLE, ...KEEP }), {
    targets: { b: { compute: 0, cached: 2, skipped: 0 } },
    calls: 0,
    cost: 0,
    atMost: false,
    notReady: [],
    stopAfterFailures: null,
  })
  assert.deepEqual(await run.run(KEEP), { materialized: 2, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 2 })
  const entry = await run.entry('1', 'b')
  assert.equal(entry?.['keeps'], before?.['seq'])
  assert.deepEqual([entry?.['value'], entry?.['previous'], entry?.['cached']], ['<x1>', '<x1>', true])
  for (const name of ['source', 'derivation', 'method', 'url', 'status', 'duration_ms']) {
    assert.deepEqual(entry?.[name], before?.[name], name)
  }
  assert.notEqual(entry?.['input_hash'], before?.['input_hash'])
  const { runs } = await listRuns(run.sheet, { limit: null, cursor: null })
  assert.deepEqual(
    runs.map(({ keepFresh, calls }) => [keepFresh, calls]),
    [
      ['b.yaml', 0],
      [undefined, 2],
    ],
  )
  // From now on the hash is that of the edited file: nothing is called for.
  await run.write({ id: '1', a: 'other' })
  await run.write({ id: '1', a: 'x1' })
  assert.equal((await run.run()).skipped, 2)
  await edit(run)
  await run.run(KEEP)
  assert.equal((await run.entry('1', 'b'))?.['keeps'], before?.['seq'], 'the entry that computed the value')
  assert.equal(run.api.requests.length, 2)
})

test('cells with other inputs stay stale; missing, failed and overridden cells are unchanged', async (t) => {
  const ids = ['kept', 'input', 'failed', 'hand']
  const run = await openLookupSheet(
    t,
    ids.map((id) => ({ id, a: id })),
  )
  run.api.answer('/b/failed', { text: '', status: 503 })
  await run.run()
  await run.edit('contract.yaml', (text) => text.replace('name: b,', "name: b, x-editable-by: ['*'],"))
  await run.write({ id: 'hand', b: 'mine' }, { id: 'missing', a: 'missing' }, { id: 'input', a: 'other' })
  await edit(run)
  assert.deepEqual(await run.run(KEEP), { materialized: 1, skipped: 4, failures: [], totalCost: 0 })
  assert.deepEqual(await run.counts('b'), { fresh: 1, stale: 1, missing: 1, failed: 1, overridden: 1 })
  assert.equal(await run.value('hand', 'b'), 'mine')
})

test('an unknown derivation, one without values, and one to be computed as well, are refused', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await assert.rejects(run.start({ keepFresh: 'c.yaml' }), (error) => {
    assert.ok(error instanceof OperationError)
    assert.match(error.message, /"c.yaml" is no derivation of the sheet; derivations are b.yaml/)
    return true
  })
  await assert.rejects(run.start(KEEP), /no cell of b.yaml has a computed value/)
  await assert.rejects(run.start({ ...KEEP, force: true, maxCalls: 1 }), (error) => {
    assert.ok(error instanceof ValidationError)
    assert.match(error.message, /leave out "force", "max_calls"/)
    return true
  })
})

test('a run that kept values can be reverted: its cells are stale again', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await edit(run)
  await run.run(KEEP)
  const { done } = await startRevert(run.sheet, { runId: '2', actor: 'user:ann' })
  assert.equal((await done).reverted, 1)
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  assert.equal(await run.value('1', 'b'), '<x>')
})
