import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockTimeoutError, RecordsError } from '../../src/errors/service-error.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { answerLookups, lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

// What a store that fails does to a run; the faults are put in between, since no disk fails on demand.

test('D31: a failing run ends only when all of its work has ended', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'a') }),
  })
  answerLookups(run.api)
  const { store } = await run.sheet.deriving()
  const { work, commitCells } = store
  let storing = 0
  store.work = (query) =>
    query.targets.includes('c') ? Promise.reject(new RecordsError('damaged')) : work.call(store, query)
  store.commitCells = async (commit) => {
    storing += 1
    return (
      await Promise.all([commitCells.call(store, commit), run.value('1', 'a')]).finally(() => (storing -= 1))
    )[0]
  }
  await assert.rejects(run.start(), { type: 'RecordsError', message: 'damaged' })
  assert.equal(storing, 0)
  assert.deepEqual(
    (await run.frames()).map(({ kind }) => kind),
    ['materialize.start', 'materialize.error'],
  )
  Object.assign(store, { work, commitCells })
  await run.run()
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: '<x>', c: '<x>' })
})

test('a run whose results cannot be stored stops calling', async (t) => {
  const records = Array.from({ length: 200 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, records)
  const { store } = await run.sheet.deriving()
  store.commitCells = () => Promise.reject(new LockTimeoutError('in use'))
  await assert.rejects(run.start(), { type: 'LockTimeoutError' })
  assert.ok(run.api.requests.length <= 24, `${run.api.requests.length} calls`)
})

test('D31: a commit that fails during the call of another cell of the record ends the run, and nothing else', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({
      'bc.yaml': {
        targets: ['b', 'c'],
        inputs: ['a'],
        kind: 'http',
        url: `${url}/{{ a }}`,
        response_schema: { b: 'b', c: 'c' },
      },
    }),
  })
  run.api.answer('/x', { json: { b: 'B' } })
  await run.run()
  const { store } = await run.sheet.deriving()
  const { commitCells } = store
  const breakStore = (): void =>
    void (store.commitCells = () => Promise.reject(new LockTimeoutError('in use')))

  // b is as it was computed and c failed: b is marked fresh again while c is called for.
  await run.write({ id: '1', a: 'y' })
  await run.write({ id: '1', a: 'x' })
  breakStore()
  await assert.rejects(run.start(), { type: 'LockTimeoutError' })

  // Of a new record, b comes from the cache.
  Object.assign(store, { commitCells })
  await run.write({ id: '2', a: 'x' })
  breakStore()
  await assert.rejects(run.start({ recordIds: ['2'] }), { type: 'LockTimeoutError' })

  Object.assign(store, { commitCells })
  run.api.answer('/x', { json: { b: 'B', c: 'C' } })
  await run.run()
  assert.deepEqual(await run.record('2'), { id: '2', a: 'x', b: 'B', c: 'C' })
})

test('an unexpected error that ends a run is logged, whoever waits for the run', async (t) => {
  const logged: unknown[] = []
  const logger = {
    info: () => undefined,
    warn: () => undefined,
    error: (details: object) => logged.push(details),
  }
  const setup = {
    properties: ['a: string', 'b: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: (url: string) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  }
  const run = await openRunSheet(t, setup, { logger })
  const { store } = await run.sheet.deriving()
  const bug = new TypeError('a bug')
  store.work = () => Promise.reject(bug)
  const { id, done } = await startMaterialize(run.sheet, {
    targets: null,
    recordIds: null,
    force: false,
    actor: 'agent:runner',
  })
  await assert.rejects(done, bug)
  assert.equal((await store.run(id))?.error?.code, 'internal_error')
  assert.deepEqual(logged, [{ err: bug, run: id }])
})
