import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRows } from './preview-rows.ts'
import { previewSummary, reasonText, type PreviewRow } from './preview-text.ts'

function row(id: string, given: Partial<PreviewRow> = {}): PreviewRow {
  return {
    record_id: id,
    outcome: 'computed',
    inputs: {},
    request: null,
    values: { rate: 1 },
    failures: {},
    blocked_by: null,
    evidence: null,
    response: null,
    cut: [],
    calls: 1,
    cost: 0,
    ms: 5,
    ...given,
  }
}

function answer(
  records: PreviewRow[],
  given: { calls?: number; total_cost?: number; unpriced_calls?: number } = {},
) {
  return { file: 'f.yaml', targets: ['rate'], records, calls: 0, total_cost: 0, unpriced_calls: 0, ...given }
}

const FAILURE = { error: 'no', error_type: 'contract', reason: null }

test('a summary counts valid and changed results, and gives the cost of a call and of all records', () => {
  const rows = [
    row('1'),
    row('2', { values: { rate: 2 } }),
    row('3', { outcome: 'failed', values: {}, failures: { rate: FAILURE } }),
  ]
  const present = new Map(['1', '2', '3'].map((id) => [id, { rate: 1 }]))
  const priced = answer(rows, { calls: 2, total_cost: 0.008 })
  assert.deepEqual(previewSummary(priced, { present, count: 100_000 }), [
    '2 of 3 valid',
    '1 changed, 1 same',
    '2 calls, about $0.004 a call, at most about $400.00 for 100,000 records',
  ])
  assert.deepEqual(previewSummary(answer(rows), { present: null, count: 3 }), ['2 of 3 valid', 'no calls'])
  // A price that nobody has set is not zero.
  const unpriced = answer(rows, { calls: 2, unpriced_calls: 2 })
  assert.deepEqual(previewSummary(unpriced, { present: null, count: 3 }), [
    '2 of 3 valid',
    '2 calls, cost not set',
  ])
})

test('a record without values has a reason', () => {
  const blocked = (reason: string) =>
    row('1', { outcome: 'blocked', values: {}, blocked_by: { reason, field: 'text' } })
  assert.equal(reasonText(blocked('input_failed')), 'Waits for text, which failed')
  assert.equal(reasonText(blocked('input_empty')), 'Waits for text, which has no value')
  assert.equal(reasonText(row('1')), null)
})

test('an existing derivation is tried on failed, overridden and fresh records, and on others where these are few', () => {
  const states = [
    'fresh',
    'fresh',
    'missing',
    'fresh',
    'failed',
    'fresh',
    'overridden',
    'failed',
    'failed',
    'failed',
  ]
  assert.deepEqual(chooseRows(states.map((state, index) => [String(index), new Set([state])] as const)), [
    '4',
    '7',
    '8',
    '6',
    '0',
    '1',
    '3',
  ])
  assert.deepEqual(
    chooseRows([
      ['a', new Set()],
      ['b', new Set(['missing'])],
    ]),
    ['a', 'b'],
  )
})
