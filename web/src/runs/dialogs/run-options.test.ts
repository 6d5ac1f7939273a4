import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionsOf, withOptions } from './run-options.ts'

const NONE = { ...optionsOf({}), stopAfter: '' }

test('a request is unchanged by the form', () => {
  const order = {
    targets: ['a'],
    record_ids: ['1'],
    force: true,
    only: 'failed',
    limit: 3,
    max_calls: 0,
    max_cost: 0.5,
    stop_after_failures: 5,
  } as const
  const mutable = { ...order, targets: [...order.targets], record_ids: [...order.record_ids] }
  assert.deepEqual(withOptions(mutable, optionsOf(mutable)), { order: mutable, errors: {} })
  assert.deepEqual(withOptions({}, NONE), { order: {}, errors: {} })
})

test('a run stops after 20 consecutive failures by default', () => {
  assert.deepEqual(withOptions({}, optionsOf({})).order, { stop_after_failures: 20 })
  assert.deepEqual(withOptions({}, optionsOf({ stop_after_failures: 0 })).order, {})
})

test('an emptied option has no effect', () => {
  assert.deepEqual(withOptions({ only: 'failed', limit: 3, force: true }, NONE).order, {})
})

test('numbers may be written as people write them', () => {
  assert.deepEqual(withOptions({}, { ...NONE, limit: ' 1,000 ', maxCost: '$ .5' }).order, {
    limit: 1000,
    max_cost: 0.5,
  })
})

test('an invalid number is reported and not sent', () => {
  for (const limit of ['0', '-1', '1.5', 'x', '1e3', '99999999999999999999']) {
    const { order, errors } = withOptions({}, { ...NONE, limit })
    assert.deepEqual(order, {}, limit)
    assert.match(errors.limit ?? '', /at least 1/)
  }
  assert.match(withOptions({}, { ...NONE, maxCost: '-1' }).errors.maxCost ?? '', /Dollars/)
  assert.match(withOptions({}, { ...NONE, maxCost: '.' }).errors.maxCost ?? '', /Dollars/)
  assert.deepEqual(withOptions({}, { ...NONE, maxCalls: '0' }), { order: { max_calls: 0 }, errors: {} })
})

test('D28: manual values are overwritten only when everything is recomputed, and only by choice', () => {
  const overwriting = { force: true, overwrite_manual: true }
  assert.equal(optionsOf({ force: true }).overwriteManual, false)
  const chosen = { ...NONE, force: true, overwriteManual: true }
  assert.deepEqual(withOptions({}, chosen).order, overwriting)
  assert.deepEqual(withOptions(overwriting, { ...optionsOf(overwriting), stopAfter: '' }).order, overwriting)
  assert.deepEqual(withOptions({}, { ...chosen, force: false }).order, {})
  assert.deepEqual(withOptions({}, { ...chosen, only: 'failed' }).order, { force: true, only: 'failed' })
})

test('kept responses are reused only by choice', () => {
  assert.deepEqual(withOptions({}, { ...NONE, reuse: true }).order, { reuse_responses: true })
  assert.equal(optionsOf({ reuse_responses: true }).reuse, true)
})
