import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testField } from '../api/test-field.ts'
import { groupRows } from './group-rows.ts'

const group = (value: string | null, count: number, split?: string, area = 0) => ({
  value,
  count,
  totals: { area },
  ...(split !== undefined && { split }),
})
const alone = { split: null, total: null, summary: null }

test('groups are by size, those of periods in their order, and what is in none is counted', () => {
  const groups = [group('b', 1), group('a', 5), group(null, 3)]
  const text = groupRows({ count: 12, groups }, { by: testField({ name: 'f', type: 'string' }), ...alone })
  assert.deepEqual(
    text.rows.map(({ label, size }) => `${label} ${size}`),
    ['a 5', 'no value 3', 'b 1'],
  )
  assert.equal(text.left, 3)
  const day = groupRows({ count: 9, groups }, { by: testField({ name: 'f', type: 'date' }), ...alone })
  assert.deepEqual(
    day.rows.map(({ label }) => label),
    ['a', 'b', 'no value'],
  )
})

test('a second field divides groups, in the order of its closed list, and sums replace counts', () => {
  const by = testField({ name: 'f', type: 'string' })
  const split = testField({ name: 's', type: 'string', values: ['yes', 'no'] })
  const total = testField({ name: 'area', type: 'number' })
  const groups = [group('a', 5, 'no', 1.5), group('a', 2, 'yes', 4), group('b', 1, 'no', 9)]
  const { rows, splits } = groupRows({ count: 8, groups }, { by, split, total, summary: null })
  assert.deepEqual(
    splits.map(({ label }) => label),
    ['yes', 'no'],
  )
  assert.deepEqual(
    rows.map(({ label, count, size, parts }) => [
      label,
      count,
      size,
      parts.map((part) => `${part.label} ${part.size}`),
    ]),
    [
      ['b', 1, 9, ['no 9']],
      ['a', 7, 5.5, ['yes 4', 'no 1.5']],
    ],
  )
})
