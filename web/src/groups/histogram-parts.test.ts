import assert from 'node:assert/strict'
import { test } from 'node:test'
import { histogramParts } from './histogram-parts.ts'

const histogram = { from: 1, to: 2, step: 1, counts: [5, 3] }
const values = ['b', 'a', null].map((value, place) => ({ value, place, label: value ?? 'no value' }))

test('bars are divided in the order of the values, and what is in none of them is last', () => {
  const splits = [
    { value: 'a', counts: [3, 0] },
    { value: 'b', counts: [1, 3] },
  ]
  assert.deepEqual(
    histogramParts({ ...histogram, splits }, values).map((parts) =>
      parts.map(({ label, place, count }) => `${label} ${place} ${count}`),
    ),
    [['b 0 1', 'a 1 3', 'other values null 1'], ['b 0 3']],
  )
})

test('a histogram without a second field has bars of one part', () => {
  assert.deepEqual(histogramParts(histogram, []), [
    [{ place: null, label: 'other values', count: 5 }],
    [{ place: null, label: 'other values', count: 3 }],
  ])
})
