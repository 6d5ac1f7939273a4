import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockTimeoutError, RecordsError } from '../../src/errors/service-error.ts'
import { getRecord } from '../../src/sheet/get-record.ts'
import { materialize } from '../../src/sheet/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { onEnd } from '../support/on-end.ts'
import { answerLookups, lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

const STOPPING = { type: 'OperationError', message: 'the service is stopping' }

test('closing a sheet ends its runs with materialize.error, and what they stored stays', async (t) => {
  // More records than calls at a time, so that some wait for their turn.
  const records = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, records)
  await run.run({ recordIds: ['0', '1'] })
  run.frames()
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const running = assert.rejects(run.start(), STOPPING)
  await hold.arrived(8)
  const waiting = assert.rejects(run.start({ actor: 'agent:second' }), STOPPING)
  await run.sheet.close()
  await Promise.all([running, waiting])
  const frames = run
    .frames()
    .map((frame) => [frame.kind, frame.actor, 'message' in frame ? frame.message : null])
  assert.deepEqual(frames.slice(0, 2), [
    ['materialize.start', 'agent:runner', null],
    ['materialize.start', 'agent:second', null],
  ])
  assert.deepEqual(
    frames.slice(2).toSorted((a, b) => String(a[1]).localeCompare(String(b[1]))),
    [
      ['materialize.error', 'agent:runner', STOPPING.message],
      ['materialize.error', 'agent:second', STOPPING.message],
    ],
  )
  assert.equal(run.api.requests.length, 10)
  await assert.rejects(run.start(), STOPPING)

  const again = await openSheet(run.directory)
  onEnd(t, () => again.close())
  assert.equal((JSON.parse(String((await getRecord(again, '0', null)).json)) as { b: string }).b, '<0>')
  hold.release()
  const request = { targets: null, recordIds: null, force: false, actor: 'agent:third' }
  const { materialized, skipped, failures } = await materialize(again, request)
  assert.deepEqual([materialized, skipped, failures], [98, 2, []])
})

test('closing a sheet while a result is being stored stores it whole and hangs nowhere', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const { store } = await run.sheet.deriving()
  const commitCells = store.commitCells.bind(store)
  const { promise: storing, resolve: onStoring } = Promise.withResolvers<void>()
  store.commitCells = (commit) => {
    onStoring()
    return commitCells(commit)
  }
  const running = run.start().catch((error: unknown) => error)
  await storing
  await run.sheet.close()
  await running
  const again = await openSheet(run.directory)
  onEnd(t, () => again.close())
  assert.equal((JSON.parse(String((await getRecord(again, '1', null)).json)) as { b: string }).b, '<x>')
})

// What a store that fails does to a run; the faults are put in between, since no disk fails on demand.

test('D31: a run that breaks ends only when nothing of it is under way any more', async (t) => {
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
    run.frames().map(({ kind }) => kind),
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

test('D31: a commit that fails while another cell of the record is being called for ends the run, and no more', async (t) => {
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
