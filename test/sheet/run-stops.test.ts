import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { getRun } from '../../src/sheet/runs/read-runs.ts'
import { openOnEngine, skipOnPostgres } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { answerLookups, lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

const STOPPING = { type: 'ServiceError', message: 'the service is stopping' }

test('closing a sheet ends its runs with materialize.error, and their stored values are kept', async (t) => {
  // More records than calls at a time, so that some wait for their turn.
  const records = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, records)
  await run.run({ recordIds: ['0', '1'] })
  await run.frames()
  const hold = run.api.hold('*')
  onEnd(t, () => hold.release())
  const running = assert.rejects(run.start(), STOPPING)
  await hold.arrived(8)
  const waiting = assert.rejects(run.start({ actor: 'agent:second' }), STOPPING)
  await run.sheet.close()
  await Promise.all([running, waiting])
  const frames = (await run.frames()).map((frame) => [
    frame.kind,
    frame.actor,
    'message' in frame ? frame.message : null,
  ])
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

  const again = await openOnEngine(run.directory)
  onEnd(t, () => again.close())
  assert.equal((JSON.parse(String((await getRecord(again, '0', null)).json)) as { b: string }).b, '<0>')
  hold.release()
  const request = { targets: null, recordIds: null, force: false, actor: 'agent:third' }
  const { materialized, skipped, failures } = await materialize(again, request)
  assert.deepEqual([materialized, skipped, failures], [98, 2, []])
})

test('failures in a row stop a run: its row, its error and its frames have the reason, computed values are kept, the rest is skipped', async (t) => {
  if (skipOnPostgres(t)) return
  const records = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, records)
  await run.edit('transport.yaml', "hosts: {'*': {concurrency: 1}}")
  await run.run({ recordIds: ['0', '1', '2'] })
  await run.frames()
  run.api.answer('*', { text: 'no such thing', status: 404 })
  const why = /^4 calls in a row failed at 127\.0\.0\.1:\d+, .* -> 404: no such thing; /
  await assert.rejects(run.start({ stopAfterFailures: 4 }), {
    type: 'OperationError',
    code: 'run_stopped',
    message: why,
  })
  const frames = await run.frames()
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['materialize.start', 'materialize.error'],
  )
  const row = await getRun(run.sheet, '2')
  assert.deepEqual([row.state, row.stopAfterFailures, row.done], ['failed', 4, 100])
  assert.match(row.error?.message ?? '', why)
  assert.deepEqual([row.error?.type, row.error?.code], ['OperationError', 'run_stopped'])
  assert.ok(row.failed >= 4 && row.failed < 50, `${row.failed} failed`)
  assert.equal(row.skipped, 100 - row.failed)
  assert.deepEqual(await run.counts('b'), { fresh: 3, failed: row.failed, missing: 97 - row.failed })
  // H7: without the bound a run goes on.
  assert.equal((await run.run()).failures.length, 97)
})

test('one refused call stops a run with that limit, and a refused connection costs nothing', async (t) => {
  if (skipOnPostgres(t)) return
  const records = Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, a: `${index}` }))
  const run = await openLookupSheet(t, records)
  await run.edit('transport.yaml', "hosts: {'*': {concurrency: 1, cost_per_call: 0.5}}")
  run.api.answer('*', { text: 'wrong key', status: 401 })
  await assert.rejects(run.start({ stopAfterFailures: 20 }), /refused a call.*-> 401: wrong key/)
  assert.ok((await getRun(run.sheet, '1')).failed < 20)
  await run.edit('derivations/b.yaml', (text) => text.replace(run.api.url, 'http://127.0.0.1:9'))
  const { failures, totalCost } = await run.run()
  assert.match(failures[0]?.error ?? '', /connection refused|network failure/)
  assert.deepEqual([totalCost, failures.length, (await getRun(run.sheet, '2')).calls], [0, 30, 30])
})

test('the reserved cost of calls that never reached their host is available to later ones', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string'],
    records: ['0', '1', '2'].map((id) => ({ id, a: id })),
    derivations: (url) => ({
      'b.yaml': lookup('http://127.0.0.1:9', 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'a'),
    }),
  })
  await run.edit('transport.yaml', "hosts: {'*': {concurrency: 1, cost_per_call: 0.5}}")
  answerLookups(run.api)
  // Two calls for `b` are reserved at a time, and would leave nothing for the third and for `c`.
  const { materialized, skipped, failures, totalCost } = await run.run({ maxCost: 1 })
  assert.deepEqual([materialized, skipped, failures.length, totalCost], [2, 1, 3, 1])
  const { calls, left } = await getRun(run.sheet, '1')
  assert.deepEqual([calls, left], [5, 1])
  assert.deepEqual(run.api.calls(), { 'GET /c/0': 1, 'GET /c/1': 1 })
})

test('closing a sheet while a result is being stored stores it completely, without a hang', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const { store } = await run.sheet.deriving()
  const { promise: storing, resolve: onStoring } = Promise.withResolvers<void>()
  const storer: { commitCells(...args: readonly never[]): Promise<unknown> } = store.tasks ?? store
  const commitCells = storer.commitCells.bind(storer)
  storer.commitCells = (...args) => {
    onStoring()
    return commitCells(...args)
  }
  const running = run.start().catch((error: unknown) => error)
  await storing
  await run.sheet.close()
  await running
  const again = await openOnEngine(run.directory)
  onEnd(t, () => again.close())
  assert.equal((JSON.parse(String((await getRecord(again, '1', null)).json)) as { b: string }).b, '<x>')
})
