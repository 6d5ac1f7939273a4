import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeContract } from '../../src/sheet/definition/change/change-fields.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import {
  answerLookups,
  lookup,
  openLookupSheet,
  openRunSheet,
  writeDerivations,
} from '../support/run-fixture.ts'

test('D28: a value written while a call is under way is kept, and the late result is only cached', async (t) => {
  const ids = ['kept', 'input', 'input-back', 'overridden', 'ended', 'deleted', 'recreated']
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string'].map((property) =>
      property.startsWith('b') ? "{name: b, logicalType: string, x-editable-by: ['user:*']}" : property,
    ),
    records: ids.map((id) => ({ id, a: id })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  answerLookups(run.api)
  await run.write({ id: 'ended', b: 'by hand' })

  const hold = run.api.hold('*')
  const running = run.run({ force: true, overwriteManual: true, actor: 'user:ann' })
  await hold.arrived(ids.length)
  await run.write({ id: 'input', a: 'other' })
  await run.write({ id: 'input-back', a: 'other' })
  await run.write({ id: 'input-back', a: 'input-back' })
  await run.write({ id: 'overridden', b: 'by hand' })
  await run.write({ id: 'ended', b: null })
  await run.delete('deleted', 'recreated')
  await run.write({ id: 'recreated', a: 'recreated' })
  hold.release()
  assert.deepEqual(await running, { materialized: 1, skipped: 6, failures: [], totalCost: 0 })

  const { records } = await listRecords(run.sheet, {
    fields: ['id', 'b'],
    limit: null,
  })
  assert.deepEqual(JSON.parse(String(records)), [
    { id: 'kept', b: '<kept>' },
    { id: 'input', b: null },
    { id: 'input-back', b: null },
    { id: 'overridden', b: 'by hand' },
    { id: 'ended', b: null },
    { id: 'recreated', b: null },
  ])
  assert.deepEqual(await run.counts('b'), { fresh: 1, missing: 4, overridden: 1 })
  assert.deepEqual(await run.history('input', 'b'), [])

  const calls = run.api.requests.length
  assert.deepEqual(await run.run(), { materialized: 4, skipped: 2, failures: [], totalCost: 0 })
  assert.deepEqual(
    run.api.requests.slice(calls).map(({ path }) => path),
    ['/b/other'],
  )
  assert.equal((await run.entry('input-back', 'b'))?.['cached'], true)
  assert.equal((await run.entry('recreated', 'b'))?.['cached'], true)
  assert.equal(await run.value('overridden', 'b'), 'by hand')
})

test('D28: a write is overwritten neither by a late failure nor by the result of another record with the same request', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'x' },
    { id: '3', a: 'bad' },
    { id: '4', a: 'bad' },
  ])
  run.api.answer('/b/bad', { json: null, status: 500 })
  const hold = run.api.hold('*')
  const running = run.run()
  await hold.arrived(2)
  await run.write({ id: '1', a: 'z' }, { id: '3', a: 'z' })
  hold.release()
  const { failures, materialized, skipped } = await running
  assert.deepEqual([failures.map(({ recordId }) => recordId), materialized, skipped], [['4'], 1, 2])
  assert.equal(await run.value('2', 'b'), '<x>')
  assert.deepEqual(await run.counts('b'), { fresh: 1, missing: 2, failed: 1 })
})

test('D28, D32: if the derivation file is edited during the run, its cells are stale afterwards', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const hold = run.api.hold('*')
  const running = run.run()
  await hold.arrived()
  await writeDerivations(run.directory, {
    'b.yaml': { ...lookup(run.api.url, 'b', 'a'), url: `${run.api.url}/b/new-{{ a }}` },
  })
  // Noticed by an operation in the middle of the run.
  assert.deepEqual(await run.counts('b'), { missing: 1 })
  hold.release()
  assert.deepEqual(await running, { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.equal(await run.value('1', 'b'), '<x>')
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  await run.run()
  assert.equal(await run.value('1', 'b'), '<new-x>')

  // Noticed only after it.
  const second = run.api.hold('*')
  const forced = run.run({ force: true })
  await second.arrived()
  await writeDerivations(run.directory, { 'b.yaml': lookup(run.api.url, 'b', 'a') })
  second.release()
  await forced
  assert.deepEqual(await run.counts('b'), { stale: 1 })
})

test('D28: if the derivation file is deleted during the run, nothing is written for it and the run ends normally', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const hold = run.api.hold('*')
  const running = run.start()
  await hold.arrived()
  await run.edit('derivations/b.yaml', null)
  await run.write({ id: '2', a: 'y' })
  hold.release()
  assert.deepEqual(await running, { materialized: 0, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: null })
})

test('a field that is renamed, and one that takes its name, get no value of the run under way for the other', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'a') }),
  })
  answerLookups(run.api)
  const hold = run.api.hold('*')
  const running = run.run()
  await hold.arrived(2)
  const renamed = new Map([
    ['b', 'c'],
    ['c', 'b'],
  ])
  const swapped = (text: string): string =>
    text.replace(/name: (b|c)/g, (_, name: string) => `name: ${renamed.get(name)}`)
  await writeContract(
    run.sheet,
    ({ text }) => ({ text: swapped(text), renamed, converted: new Map(), confirmed: new Map() }),
    { actor: 'human:ann', note: null, ifMatch: null, dryRun: false, repairs: false },
  )
  hold.release()
  await running
  // The derivations have swapped their targets with the fields: each field has the value of its own, or none.
  const [b, c] = [await run.value('1', 'b'), await run.value('1', 'c')]
  assert.ok([b, c].every((value) => value === null || value === '<x>'))
  await run.run()
  const paths = run.api.requests.map(({ path }) => path)
  assert.deepEqual([...new Set(paths)].toSorted(), ['/b/x', '/c/x'])
  assert.deepEqual([await run.counts('b'), await run.counts('c')], [{ fresh: 1 }, { fresh: 1 }])
  const entries = [await run.entry('1', 'b'), await run.entry('1', 'c')]
  assert.deepEqual(
    entries.map((entry) => String(entry?.['url']).slice(-4)),
    ['/c/x', '/b/x'],
  )
})

test('D30, D31: results are stored during the run, while reads and writes continue', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'held' },
    { id: '2', a: 'x' },
  ])
  const hold = run.api.hold('/b/held')
  const committed = nextCommit(run.sheet)
  const running = run.run()
  await hold.arrived()
  await committed
  assert.equal(await run.value('2', 'b'), '<x>')
  assert.deepEqual(await run.counts('b'), { fresh: 1, missing: 1 })
  assert.equal((await run.entry('2', 'b'))?.['value'], '<x>')
  await run.write({ id: '2', a: 'y' })
  assert.deepEqual(await run.counts('b'), { stale: 1, missing: 1 })
  hold.release()
  assert.deepEqual(await running, { materialized: 2, skipped: 0, failures: [], totalCost: 0 })
})

/** Resolves when the sheet's store has next stored results of a run. */
async function nextCommit(sheet: Awaited<ReturnType<typeof openLookupSheet>>['sheet']): Promise<void> {
  const { store } = await sheet.deriving()
  const commitCells = store.commitCells.bind(store)
  const { tasks } = store
  const commitTask = tasks?.commitCells.bind(tasks)
  await new Promise<void>((resolve) => {
    store.commitCells = async (commit) => {
      const outcomes = await commitCells(commit)
      resolve()
      return outcomes
    }
    if (tasks === undefined || commitTask === undefined) return
    tasks.commitCells = async (task, commit) => {
      const outcomes = await commitTask(task, commit)
      resolve()
      return outcomes
    }
  })
}

test('D30: records inserted during a run do not change its counts', async (t) => {
  const records = Array.from({ length: 70 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, [{ id: 'fresh', a: 'fresh' }])
  await run.run()
  await run.write(...records)
  const hold = run.api.hold('*')
  const running = run.run()
  await hold.arrived(8)
  await run.write({ id: 'new', a: 'new' })
  hold.release()
  const { materialized, skipped } = await running
  assert.deepEqual([materialized, skipped], [70, 1])
  assert.deepEqual(await run.counts('b'), { fresh: 71, missing: 1 })
})
