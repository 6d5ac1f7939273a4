import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ValidationError } from '../../src/errors/service-error.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { startRevert } from '../../src/sheet/runs/revert.ts'
import { restoreRecords } from '../../src/sheet/writes/restore-records.ts'
import { answerLookups, lookup, openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ACTOR = 'user:ann'

/** A sheet where `b` is looked up by `a`, and `c` by `b`. */
async function openChain(t: TestContext, ids: readonly string[]): Promise<RunSheet> {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}", 'c: string'],
    records: ids.map((id) => ({ id, a: id })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'b') }),
  })
  answerLookups(run.api)
  return run
}

async function restore(run: RunSheet, ...ids: readonly string[]): Promise<number> {
  const records = ids.map((recordId) => ({ recordId, seq: null }))
  const { reverted, conflicts, runId } = await restoreRecords(run.sheet, { records, actor: ACTOR })
  assert.deepEqual([conflicts, runId], [[], null])
  await run.checkStatus()
  return reverted
}

test('D32: computed cells of a restored record are fresh, so that the next run pays for nothing again', async (t) => {
  const run = await openChain(t, ['1', '2', '3'])
  await run.run()
  await run.write({ id: '3', b: 'by hand' })
  const before = await Promise.all(['1', '3'].map((id) => run.record(id)))
  await run.delete('1', '3')
  assert.equal(await restore(run, '1', '3', '1'), 2)
  assert.deepEqual(await Promise.all(['1', '3'].map((id) => run.record(id))), before)
  assert.deepEqual(await run.counts('b'), { fresh: 2, overridden: 1 })
  assert.deepEqual(await run.counts('c'), { fresh: 2, stale: 1 }, 'its input was written by hand')
  const calls = run.api.requests.length
  await run.run({ recordIds: ['1'] })
  assert.equal(run.api.requests.length, calls)
})

test('D32: they are stale if the derivation file was edited while the record was deleted', async (t) => {
  const run = await openChain(t, ['1'])
  await run.run()
  await run.delete('1')
  await run.edit('derivations/b.yaml', (text) => `${text}\n# edited\n`)
  await restore(run, '1')
  assert.deepEqual([await run.counts('b'), await run.counts('c')], [{ stale: 1 }, { fresh: 1 }])
  const { state, reasons } = await explainCell(run.sheet, 'b', '1')
  assert.equal(state, 'stale')
  assert.deepEqual(
    reasons.map(({ part }) => part),
    ['derivation'],
  )
})

test('a run can be reverted for a record that was deleted and restored', async (t) => {
  const run = await openChain(t, ['1', '2'])
  await run.run()
  await run.delete('2')
  await restore(run, '2')
  const { done } = await startRevert(run.sheet, { runId: '1', actor: ACTOR })
  const { reverted, conflicts } = await done
  assert.deepEqual([reverted, conflicts], [4, []])
  assert.deepEqual(await run.counts('b'), { missing: 2 })
})

test('a request restores at least one record and at most 10,000', async (t) => {
  const run = await openChain(t, ['1'])
  const ids = Array.from({ length: 10_001 }, (_, index) => `r${index}`)
  await assert.rejects(restore(run, ...ids), (error: Error) => {
    assert.ok(error instanceof ValidationError)
    assert.match(error.message, /^10001 records are too many to restore at once; name at most 10000/)
    return true
  })
  await assert.rejects(restore(run), ValidationError)
})
