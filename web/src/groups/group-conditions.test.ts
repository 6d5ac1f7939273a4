import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldType } from '../api/contract.ts'
import { testField } from '../api/test-field.ts'
import type { Condition } from '../state/conditions.ts'
import { groupCondition, isOpen, toggleGroup, type GroupValue } from './group-conditions.ts'

const of = (type: FieldType, value: GroupValue): readonly unknown[] => {
  const { is, value: operand } = groupCondition(testField({ name: 'f', type }), value)
  return [is, operand]
}

test('a group has the condition of its value', () => {
  assert.deepEqual(of('string', 'Asia'), ['anyOf', ['Asia']])
  assert.deepEqual(of('integer', 3), ['equals', 3])
  assert.deepEqual(of('boolean', false), ['equals', false])
  assert.deepEqual(of('number', null), ['empty', null])
})

test('a period is all of its days', () => {
  assert.deepEqual(of('date', '2024'), ['between', ['2024-01-01', '2024-12-31']])
  assert.deepEqual(of('date', '2024-02'), ['between', ['2024-02-01', '2024-02-29']])
  assert.deepEqual(of('date', '2024-02-29'), ['between', ['2024-02-29', '2024-02-29']])
  assert.deepEqual(of('timestamp', '2024-12'), [
    'during',
    ['2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
  ])
})

test('a group is opened instead of another, and closed', () => {
  const other: Condition = { field: 'x', is: 'filled', value: null }
  const asia: Condition = { field: 'f', is: 'anyOf', value: ['Asia'] }
  const europe: Condition = { field: 'f', is: 'anyOf', value: ['Europe'] }
  assert.deepEqual(toggleGroup([other, asia], europe), [other, europe])
  assert.deepEqual(toggleGroup([other, europe], europe), [other])
  assert.equal(isOpen([other, europe], asia), false)
})
