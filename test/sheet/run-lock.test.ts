import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { perEngine, placeOnEngine } from '../support/engine.ts'
import { hearFrames } from '../support/hear-frames.ts'
import { onEnd } from '../support/on-end.ts'
import { openLookupSheet } from '../support/run-fixture.ts'
import { openImpatient } from '../support/sheet-fixture.ts'

const OTHER_RUN = join(import.meta.dirname, '..', 'support', 'run-in-process.ts')

const REQUEST = { targets: null, recordIds: null, force: false, actor: 'agent:second' }

test('D31: a second run waits for the first, then finds its work done', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const hold = run.api.hold('*')
  const first = run.start()
  await hold.arrived()
  const second = run.start({ actor: 'agent:second' })
  await run.write({ id: '2', a: 'x' })
  assert.deepEqual(
    (await run.frames()).map(({ kind, actor }) => `${kind} ${actor}`),
    ['materialize.start agent:runner', 'materialize.start agent:second'],
  )
  hold.release()
  assert.deepEqual(await first, { materialized: 1, skipped: 0, failures: [], totalCost: 0 })
  assert.deepEqual(await second, { materialized: 1, skipped: 1, failures: [], totalCost: 0 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
  assert.deepEqual(
    (await run.frames()).map(({ kind, actor }) => `${kind} ${actor}`),
    ['materialize.end agent:runner', 'materialize.end agent:second'],
  )
})

test('D31: a run that waits too long ends with LockTimeoutError, and the sheet can run again', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const impatient = await openImpatient(t, run.directory)
  const hold = run.api.hold('*')
  const first = run.start()
  await hold.arrived()
  const message = 'another run of this sheet is under way and did not end within 0.02 s; try again later'
  await assert.rejects(materialize(impatient, REQUEST), { type: 'LockTimeoutError', message })
  // D29: a mistake in the request is told without waiting.
  await assert.rejects(materialize(impatient, { ...REQUEST, targets: ['nope'] }), { type: 'OperationError' })
  hold.release()
  await first
  assert.equal((await run.start()).skipped, 1)
})

test('D31: the lock holds across processes, does not stop reads and writes, and dies with its holder', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const impatient = await openImpatient(t, run.directory)
  const frames = await hearFrames(impatient)
  const hold = run.api.hold('*')
  const other = spawn(process.execPath, [OTHER_RUN, await placeOnEngine(run.directory)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onEnd(t, () => other.kill('SIGKILL'))
  const ended = once(other, 'exit')
  await Promise.race([hold.arrived(), ended.then(() => assert.fail('the other process ended early'))])

  await assert.rejects(materialize(impatient, REQUEST), { type: 'LockTimeoutError' })
  const own = (await frames()).filter(({ actor }) => actor === REQUEST.actor)
  assert.deepEqual(
    own.map(({ kind }) => kind),
    ['materialize.start', 'materialize.error'],
  )
  await run.write({ id: '2', a: 'y' })
  assert.deepEqual(await run.counts('b'), { missing: 2 })

  other.kill('SIGKILL')
  await ended
  hold.release()
  // PostgreSQL notices the end of a connection some time after that of the process, so this run has to wait for the lock.
  // On PostgreSQL the other's run is gone on with first, which was not about the new record.
  const counts = perEngine({
    sqlite: { materialized: 2, skipped: 0 },
    postgres: { materialized: 1, skipped: 1 },
  })
  assert.deepEqual(await run.run(), { ...counts, failures: [], totalCost: 0 })
})
