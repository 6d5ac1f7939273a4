import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkQuery } from '../../store/cell-work.ts'
import { runScope } from './run-scope.ts'
import { runDerivations } from '../testing/run-derivations.ts'
import { MemoryStore } from '../testing/memory-store.ts'
import { planRun } from './plan-run.ts'
import { testDerivations, testRequest, TestKind } from '../testing/test-run.ts'

const kind = new TestKind()
const DERIVATIONS = testDerivations(kind, [
  { file: 'b', targets: ['b'], inputs: ['x'] },
  { file: 'c', targets: ['c'], inputs: ['b', 'y'] },
  { file: 'e', targets: ['e'], inputs: ['y'] },
])

/**
 * Returns a store with records without pending cells, or whose pending cells are not computed, followed by records with cells to compute.
 */
async function sheet(): Promise<MemoryStore> {
  const store = new MemoryStore(DERIVATIONS)
  store.write('fresh', { x: 'one', y: 'one' })
  await runDerivations(testRequest(store, DERIVATIONS))
  store.write('blocked', {})
  store.write('unchanged', { x: 'two' })
  await runDerivations(testRequest(store, DERIVATIONS, { targets: new Set(['b']) }))
  store.write('unchanged', { x: 'three' })
  store.write('unchanged', { x: 'two' })
  store.write('fails, and what is computed from that', { x: '..', b: 'by hand', y: '..' })
  store.write('fails, and what is computed from that', { b: null })
  store.write('only e', { y: 'one' })
  store.write('b, then c', { x: 'six' })
  store.write('only b', { x: 'seven' })
  return store
}

const scopeOf = async (
  store: MemoryStore,
  changes: Partial<ReturnType<typeof testRequest>>,
): Promise<readonly unknown[] | null> => {
  const { records } = await runScope(testRequest(store, DERIVATIONS, changes))
  return records?.map((key) => store.records.get(key)?.id) ?? null
}

test('a limit counts the first records with a cell that is computed, by a call or from the cache', async () => {
  const store = await sheet()
  assert.deepEqual(await scopeOf(store, { limit: 1 }), ['only e'])
  assert.deepEqual(await scopeOf(store, { limit: 2 }), ['only e', 'b, then c'])
  assert.deepEqual(await scopeOf(store, { limit: 9 }), ['only e', 'b, then c', 'only b'])
  assert.deepEqual(await scopeOf(store, { limit: 2, targets: new Set(['c', 'b']) }), ['b, then c', 'only b'])
  assert.deepEqual(await scopeOf(store, { limit: 2, force: true }), ['fresh', 'unchanged'])
  assert.deepEqual(await scopeOf(store, { limit: 2, only: 'stale' }), [])
  assert.deepEqual(await scopeOf(store, { limit: 1, records: [2, 6, 7] }), ['b, then c'])
  assert.deepEqual(await scopeOf(store, { limit: null }), null)
})

test('D27: a record whose only pending cell is computed from a failing cell does not count', async () => {
  const store = new MemoryStore(DERIVATIONS)
  store.write('first', { x: '..', b: 'by hand', y: 'y', e: 'by hand' })
  store.write('first', { x: '.', b: null })
  await runDerivations(testRequest(store, DERIVATIONS, { targets: new Set(['b']) }))
  store.write('first', { x: '..' })
  store.write('second', { y: 'y' })
  assert.deepEqual(await scopeOf(store, { limit: 1 }), ['second'])
})

test('a run with a limit, and its plan, skip the cells of all other records', async () => {
  const store = await sheet()
  const request = testRequest(store, DERIVATIONS, { limit: 2 })
  const plan = await planRun(request)
  assert.deepEqual(plan, {
    targets: {
      b: { compute: 1, cached: 0, skipped: 6, blocked: { input_empty: 1 } },
      c: { compute: 0, cached: 0, skipped: 7, blocked: { input_empty: 1, input_blocked: 1 } },
      e: { compute: 0, cached: 1, skipped: 6, blocked: { input_empty: 1 } },
    },
    calls: 1,
    cost: 0,
    atMost: false,
  })
  const calls = kind.calls.length
  const { progress } = await runDerivations(request)
  assert.deepEqual(kind.calls.slice(calls), ['b/six'])
  // The cells of the other records are counted from the start; those of these records that are blocked at the end.
  assert.equal(store.commits.at(-1)?.progress.skipped, 2 * 5)
  assert.deepEqual(progress, {
    done: 21,
    total: 21,
    materialized: 2,
    skipped: 19,
    failed: 0,
    calls: 1,
    totalCost: 0,
    unpricedCalls: 0,
    left: 0,
    manualLeft: 0,
    manualOverwritten: 0,
  })
})

test('no more is read than the first records need', async () => {
  const store = new MemoryStore(DERIVATIONS)
  for (let index = 0; index < 2000; index += 1) store.write(`${index}`, { x: 'x', y: 'y' })
  const asked: WorkQuery[] = []
  const work = store.work.bind(store)
  store.work = (query) => {
    asked.push(query)
    return work(query)
  }
  assert.equal((await runScope(testRequest(store, DERIVATIONS, { limit: 5 }))).records?.length, 5)
  assert.deepEqual(
    asked.map(({ targets, after }) => [targets, after]),
    [
      [['b'], null],
      [['e'], null],
      [['c'], null],
    ],
  )
})
