import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LOGICAL_TYPES } from '../../../src/contract/contract.ts'
import type { FieldType } from '../api/contract.ts'
import type { Condition, Operator } from '../state/conditions.ts'
import { draftOf, firstOperator, toCondition, typedItem } from './draft.ts'
import { operatorsFor } from './operators-for.ts'
import { testField } from '../api/test-field.ts'

function written(type: FieldType, is: Operator, first: string, second = ''): unknown {
  const field = testField({ type })
  const drafted = toCondition(field, { ...draftOf(field, null), is, texts: [first, second] })
  return 'condition' in drafted ? drafted.condition.value : drafted.error
}

suite('a condition that is being written', () => {
  test('is unchanged if nothing is edited', () => {
    const conditions: Condition[] = [
      { field: 'word', is: 'contains', value: ' a ' },
      { field: 'word', is: 'anyOf', value: ['a', '', null] },
      { field: 'word', is: 'filled', value: null },
    ]
    const others: readonly (readonly [FieldType, Condition])[] = [
      ...conditions.map((condition) => ['string', condition] as const),
      ['number', { field: 'word', is: 'within', value: [-0.30000000000000004, 1e21] }],
      ['boolean', { field: 'word', is: 'equals', value: false }],
      ['date', { field: 'word', is: 'between', value: ['2024-02-29', '2024-03-01'] }],
      [
        'timestamp',
        { field: 'word', is: 'during', value: ['2026-01-01T00:00:00.123Z', '2026-01-01T02:00:00+01:00'] },
      ],
      ['array', { field: 'word', is: 'hasAll', value: ['a', 1, true] }],
    ]
    for (const [type, condition] of others) {
      const field = testField({ type })
      assert.deepEqual(toCondition(field, draftOf(field, condition)), { condition })
    }
  })

  test('has a matching operator when new, and every type can test for no value', () => {
    for (const type of LOGICAL_TYPES) {
      const field = testField({ type })
      const operators = operatorsFor(field)
      assert.equal(draftOf(field, null).is, operators[0])
      assert.deepEqual(
        ['empty', 'filled'].filter((each) => operators.includes(each as (typeof operators)[number])),
        ['empty', 'filled'],
      )
      assert.equal(new Set(operators).size, operators.length)
    }
    assert.equal(operatorsFor(testField({ values: ['a'] }))[0], 'anyOf')
    assert.equal(firstOperator(testField(), 4), 'anyOf')
    assert.equal(firstOperator(testField(), 400), 'contains')
    assert.equal(firstOperator(testField({ type: 'integer' }), 4), 'atLeast')
  })

  test('accepts numbers and times in common notations', () => {
    assert.equal(written('integer', 'atLeast', '1,000,000'), 1_000_000)
    assert.equal(written('integer', 'atLeast', '2.5'), 2.5)
    assert.deepEqual(written('number', 'between', '5', '−1'), [-1, 5])
    assert.deepEqual(written('timestamp', 'during', '2026-01-02T00:00:00Z', '2026-01-02T00:30:00+01:00'), [
      '2026-01-02T00:30:00+01:00',
      '2026-01-02T00:00:00Z',
    ])
    assert.equal(written('string', 'contains', ' and '), ' and ')
  })

  test('reports errors', () => {
    assert.match(String(written('number', 'atLeast', 'abc')), /not a number/)
    assert.match(String(written('number', 'between', '1', '')), /Enter a value/)
    assert.match(String(written('string', 'contains', '  ')), /Enter a value/)
    assert.match(String(written('date', 'below', '2024-02-30')), /2024-03-10/)
    assert.match(String(written('string', 'anyOf', 'x')), /at least one/)
  })

  test('gives items the type of the field', () => {
    assert.equal(typedItem(testField(), 'x'), 'x')
    assert.equal(typedItem(testField({ type: 'array', itemType: 'integer' }), '12'), 12)
    assert.equal(typedItem(testField({ type: 'array', itemType: 'integer' }), 'x'), null)
    assert.equal(typedItem(testField({ type: 'array' }), '12'), '12')
    assert.equal(typedItem(testField({ type: 'array', itemType: 'boolean' }), 'true'), null)
    assert.equal(typedItem(testField(), ''), null)
  })
})
