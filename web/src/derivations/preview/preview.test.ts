import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRows, fieldsIn, randomPlaces } from './preview-rows.ts'
import { joined, portionsOf } from './portions.ts'
import { doubtText, previewSummary, reasonText, type PreviewRow } from './preview-text.ts'
import { variedRows } from './vary-rows.ts'

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
  given: { calls?: number; total_cost?: number; unpriced_calls?: number; parallel?: number } = {},
) {
  return {
    file: 'f.yaml',
    targets: ['rate'],
    records,
    calls: 0,
    total_cost: 0,
    unpriced_calls: 0,
    parallel: null,
    ...given,
  }
}

const FAILURE = { error: 'no', error_type: 'contract', reason: null }

test('a summary counts valid and changed results, and gives the cost of a call and of all records', () => {
  const rows = [
    row('1', { ms: 800 }),
    row('2', { ms: 900, values: { rate: 2 } }),
    row('3', { ms: 892, outcome: 'failed', values: {}, failures: { rate: FAILURE } }),
  ]
  const present = new Map(['1', '2', '3'].map((id) => [id, { rate: 1 }]))
  const priced = answer(rows, { calls: 3, total_cost: 0.012, parallel: 8 })
  assert.deepEqual(previewSummary(priced, { present, count: 100_000 }), [
    '2 of 3 valid',
    '1 changed, 1 same',
    '3 calls, about $0.004 a call',
    'at most about $400.00 for 100,000 records',
    'about 3 h at 8 in parallel',
  ])
  assert.deepEqual(previewSummary(answer(rows), { present: null, count: 3 }), ['2 of 3 valid', 'no calls'])
  // A price that nobody has set is not zero.
  const unpriced = answer(rows, { calls: 2, unpriced_calls: 2 })
  assert.deepEqual(previewSummary(unpriced, { present: null, count: 3 }), [
    '2 of 3 valid',
    '2 calls, cost not set',
  ])
})

test('a run of all is questioned if fewer than four of five rows were valid', () => {
  const failed = row('f', { outcome: 'failed', values: {}, failures: { rate: FAILURE } })
  const valid = ['1', '2', '3', '4'].map((id) => row(id))
  assert.equal(doubtText(answer([...valid, failed])), null)
  assert.match(doubtText(answer([...valid.slice(1), failed, failed])) ?? '', /^Only 3 of 5 rows/)
  assert.equal(doubtText(answer([])), null)
  assert.equal(doubtText(null), null)
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

test('varied records differ in the length of their inputs and in whether these are empty', () => {
  const texts = ['ab', 'ab', 'cd', null, 'a'.repeat(500), 'a'.repeat(30), 'ab', '']
  const records = texts.map((text, index) => ({ id: String(index), text }))
  assert.deepEqual(variedRows(records, ['text'], 5), ['0', '4', '3', '5', '2'])
  // Where all are equal, each is taken once.
  assert.deepEqual(variedRows(records.slice(0, 2), ['text'], 5), ['0', '1'])
  assert.deepEqual(variedRows([], ['text'], 5), [])
})

test('the inputs of varied records are the fields that the text names, without its targets', () => {
  const fields = ['id', 'town', 'size', 'label'].map((name) => ({ name }))
  const text = 'targets: [label]\nkind: sql\nexpression: town || id -- label'
  assert.deepEqual(fieldsIn(text, { fields: fields as never }), ['town'])
})

test('a preview asks for its first record alone, then for four at a time, and adds up the results', () => {
  const ids = ['1', '2', '3', '4', '5', '6']
  assert.deepEqual(portionsOf(ids, false), [['1'], ['2', '3', '4', '5'], ['6']])
  assert.deepEqual(portionsOf(ids, true), [ids])
  const sum = joined(
    answer([row('1')], { calls: 1, total_cost: 1 }),
    answer([row('2')], { calls: 2, total_cost: 0.5 }),
  )
  assert.deepEqual([sum.records.length, sum.calls, sum.total_cost, sum.unpriced_calls], [2, 3, 1.5, 0])
})

test('random rows are different ones of all rows, and all of a small sheet', () => {
  const highest = (): number => 1 - Number.EPSILON
  assert.deepEqual(randomPlaces(100, 3, highest), [97, 98, 99])
  assert.deepEqual(
    randomPlaces(100, 3, () => 0),
    [0, 98, 99],
  )
  assert.deepEqual(randomPlaces(2, 5, highest), [0, 1])
  assert.deepEqual(randomPlaces(0, 5, highest), [])
})
