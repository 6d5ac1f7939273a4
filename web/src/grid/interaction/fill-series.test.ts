import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillSeries } from './fill-series.ts'

test('one value, and values without a constant step, are repeated', () => {
  assert.deepEqual(fillSeries([5], 3), [5, 5, 5])
  assert.deepEqual(fillSeries(['a', 'b'], 3), ['a', 'b', 'a'])
  assert.deepEqual(fillSeries([1, 2, 4], 4), [1, 2, 4, 1])
  assert.deepEqual(fillSeries([1, null], 2), [1, null])
  assert.deepEqual(fillSeries([true, false], 2), [true, false])
})

test('numbers with a constant step continue', () => {
  assert.deepEqual(fillSeries([1, 2], 3), [3, 4, 5])
  assert.deepEqual(fillSeries([10, 5, 0], 2), [-5, -10])
  assert.deepEqual(fillSeries([0.1, 0.2], 3), [0.3, 0.4, 0.5])
  assert.deepEqual(fillSeries([7, 7], 2), [7, 7])
})

test('dates with a constant number of days continue', () => {
  assert.deepEqual(fillSeries(['2024-02-27', '2024-02-28'], 2), ['2024-02-29', '2024-03-01'])
  assert.deepEqual(fillSeries(['2024-03-15', '2024-03-08'], 1), ['2024-03-01'])
})
