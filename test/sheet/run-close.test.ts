import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getRecord } from '../../src/sheet/get-record.ts'
import { materialize } from '../../src/sheet/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet } from '../support/run-fixture.ts'

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
  const frames = run.frames().map((frame) => [frame.kind, frame.actor, 'message' in frame ? frame.message : null])
  assert.deepEqual(frames.slice(0, 2), [
    ['materialize.start', 'agent:runner', null],
    ['materialize.start', 'agent:second', null],
  ])
  assert.deepEqual(frames.slice(2).toSorted(), [
    ['materialize.error', 'agent:runner', STOPPING.message],
    ['materialize.error', 'agent:second', STOPPING.message],
  ])
  assert.equal(run.api.requests.length, 10)

  const again = await openSheet(run.directory)
  onEnd(t, () => again.close())
  assert.equal((JSON.parse(await getRecord(again, '0', null)) as { b: string }).b, '<0>')
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
  assert.equal((JSON.parse(await getRecord(again, '1', null)) as { b: string }).b, '<x>')
})
