import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { prunableRuns, pruneRuns } from '../../src/sheet/runs/prune-runs.ts'
import { getRun, listRuns } from '../../src/sheet/runs/read-runs.ts'
import { openLookupSheet } from '../support/run-fixture.ts'

const ALL = { olderThanMs: null, keep: 0 }

test('D32, D34: cells keep their states, failures and provenance when their run is removed', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'bad' },
  ])
  run.api.answer('/b/bad', { json: null, status: 500 })
  await run.run()
  const facts = async (): Promise<unknown> => [
    await run.counts('b'),
    (await explainCell(run.sheet, 'b', '2')).failure,
    await run.history('1', 'b'),
  ]
  const before = await facts()
  assert.deepEqual(await prunableRuns(run.sheet, ALL), { runs: 1, failures: 1 })
  assert.deepEqual(await pruneRuns(run.sheet, ALL), { runs: 1, failures: 1 })
  assert.deepEqual((await listRuns(run.sheet, { limit: null, cursor: null })).runs, [])
  await assert.rejects(getRun(run.sheet, '1'), { type: 'SheetError' })
  assert.deepEqual(await facts(), before)
  await run.checkStatus()
  run.api.answer('/b/bad', { json: { value: 'good' } })
  assert.equal((await run.start({ only: 'failed' })).materialized, 1)
  assert.deepEqual(
    (await listRuns(run.sheet, { limit: null, cursor: null })).runs.map(({ id }) => id),
    ['2'],
  )
})

test('the runs to remove must be selected, and an age selects only older ones', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  for (const which of [
    { olderThanMs: null, keep: null },
    { olderThanMs: -1, keep: null },
    { olderThanMs: null, keep: 0.5 },
  ]) {
    await assert.rejects(pruneRuns(run.sheet, which), { type: 'ValidationError' })
  }
  assert.deepEqual(await pruneRuns(run.sheet, { olderThanMs: 86_400_000, keep: null }), {
    runs: 0,
    failures: 0,
  })
  assert.deepEqual(await pruneRuns(run.sheet, { olderThanMs: null, keep: 1 }), { runs: 0, failures: 0 })
})
