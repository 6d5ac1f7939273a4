import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseConditions, withCondition, type Condition } from './conditions.ts'

suite('conditions in the address bar', () => {
  const parse = (...given: unknown[]) => parseConditions(JSON.stringify(given))

  test('the form of the earliest links is still supported', () => {
    const given: Condition[] = [
      { field: 'name', is: 'contains', value: 'a' },
      { field: 'area', is: 'atLeast', value: 10.5 },
      { field: 'open', is: 'equals', value: false },
      { field: 'area', is: 'empty', value: null },
      { field: 'area', is: 'between', value: [1, 2] },
      { field: 'region', is: 'anyOf', value: ['Asia', null] },
      { field: 'at', is: 'during', value: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'] },
    ]
    assert.deepEqual(parse(...given), given)
    assert.deepEqual(parse({ field: 'a', is: 'filled', value: null, more: 1 }), [
      { field: 'a', is: 'filled', value: null },
    ])
  })

  test('invalid conditions are left out', () => {
    const bad = [
      null,
      1,
      'x',
      [],
      {},
      { field: 1, is: 'equals', value: 1 },
      { field: 'a', is: 'toString', value: 1 },
      { field: 'a', is: 'equals' },
      { field: 'a', is: 'equals', value: null },
      { field: 'a', is: 'equals', value: [1] },
      { field: 'a', is: 'equals', value: {} },
      { field: 'a', is: 'empty', value: 1 },
      { field: 'a', is: 'between', value: 1 },
      { field: 'a', is: 'between', value: [1] },
      { field: 'a', is: 'between', value: [1, 2, 3] },
      { field: 'a', is: 'between', value: [1, '2'] },
      { field: 'a', is: 'between', value: [1, null] },
      { field: 'a', is: 'between', value: [true, false] },
      { field: 'a', is: 'anyOf', value: [] },
      { field: 'a', is: 'anyOf', value: 'x' },
      { field: 'a', is: 'anyOf', value: [[1]] },
      { field: 'a', is: 'anyOf', value: Array(1001).fill(1) },
    ]
    assert.deepEqual(parse(...bad), [])
    // JSON has no infinity, but its numbers may be too large.
    assert.deepEqual(parseConditions('[{"field":"a","is":"equals","value":1e999}]'), [])
    for (const text of [null, '', '[', '{}', '"x"']) assert.deepEqual(parseConditions(text), [])
  })
})

suite('a condition chosen in a chart', () => {
  const region: Condition = { field: 'region', is: 'anyOf', value: ['Asia'] }
  const wide: Condition = { field: 'area', is: 'between', value: [0, 100] }
  const narrow: Condition = { field: 'area', is: 'within', value: [10, 20] }

  test('narrows an earlier range', () => {
    assert.deepEqual(withCondition([wide, region], narrow), [region, narrow])
    assert.deepEqual(withCondition([region, { ...wide, field: 'other' }], narrow).length, 3)
    const least: Condition = { field: 'area', is: 'atLeast', value: 1 }
    assert.deepEqual(withCondition([least], narrow), [least, narrow])
  })

  test('changes nothing if it already applies', () => {
    const conditions = [region, wide]
    assert.equal(withCondition(conditions, { ...region, value: ['Asia'] }), conditions)
  })
})
