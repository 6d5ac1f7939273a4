import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDerivations } from '../testing/run-derivations.ts'
import { MemoryStore } from '../testing/memory-store.ts'
import type { PlanRequest } from '../run-request.ts'
import { testDerivations, testRequest, TestKind } from '../testing/test-run.ts'
import { wouldCall } from './would-call.ts'

const kind = new TestKind()
const DERIVATIONS = testDerivations(kind, [
  { file: 'b', targets: ['b'], inputs: ['x'] },
  { file: 'c', targets: ['c'], inputs: ['b'] },
  { file: 'd', targets: ['d'], inputs: ['c'] },
  { file: 'e', targets: ['e'], inputs: ['y'], price: 1 },
])

test('D23: the calls of a run for a derivation are predicted, also those once its inputs have been computed', async () => {
  const store = new MemoryStore(DERIVATIONS)
  const would = async (file: string, changes: Partial<PlanRequest> = {}): Promise<boolean> => {
    const { store: _, ...rest } = changes
    const derivation = DERIVATIONS.find((each) => each.file === file)
    assert.ok(derivation)
    const calls = kind.calls.length
    const answer = await wouldCall(testRequest(store, DERIVATIONS, rest), derivation)
    assert.equal(kind.calls.length, calls)
    return answer
  }
  store.write('blocked', {})
  for (const { file } of DERIVATIONS) assert.equal(await would(file), false)
  store.write('1', { x: 'one' })
  assert.deepEqual(
    [await would('b'), await would('c'), await would('d'), await would('e')],
    [true, true, true, false],
  )
  // Targets that are not selected are not computed.
  assert.equal(await would('d', { targets: new Set(['b', 'd']) }), false)
  assert.equal(await would('b', { records: [1] }), false)
  assert.equal(await would('b', { only: 'failed' }), false)
  await runDerivations(testRequest(store, DERIVATIONS))
  assert.equal(await would('b'), false)
  assert.equal(await would('b', { force: true }), true)
  store.write('from the cache', { x: 'one' })
  assert.deepEqual([await would('b'), await would('c')], [false, true])
  assert.deepEqual(
    [await would('c', { only: 'missing' }), await would('c', { only: 'stale' })],
    [true, false],
  )

  // Recomputing a failed input makes fresh cells stale, which are not part of a run over failed ones.
  await runDerivations(testRequest(store, DERIVATIONS))
  kind.answer = () => 'fails'
  store.write('1', { x: 'other' })
  await runDerivations(testRequest(store, DERIVATIONS))
  assert.deepEqual(
    [await would('b', { only: 'failed' }), await would('c', { only: 'failed' })],
    [true, false],
  )

  // A refused derivation makes no call, nor does one that depends on it.
  const refused = DERIVATIONS.map((each) => (each.file === 'b' ? { ...each, refusal: 'not here' } : each))
  const wouldRefused = (file: string): Promise<boolean> => {
    const derivation = refused.find((each) => each.file === file)
    assert.ok(derivation)
    return wouldCall(testRequest(store, refused, { force: true }), derivation)
  }
  assert.deepEqual([await wouldRefused('b'), await wouldRefused('c')], [false, false])

  // Bounds may or may not allow a call.
  store.write('1', { y: 'one' })
  assert.deepEqual([await would('e', { maxCalls: 0 }), await would('e', { maxCalls: 1 })], [false, true])
  assert.deepEqual(await would('e', { limit: 1, records: [1, 3] }), false)
})
