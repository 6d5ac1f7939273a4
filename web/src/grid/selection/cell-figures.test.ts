import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresOf, roundedAverage } from './cell-figures.ts'

test('values are counted, and numbers are added up', () => {
  assert.deepEqual(figuresOf([1, 'a', null, undefined, false, 2.5, '']), { filled: 5, numbers: 2, sum: 3.5 })
  assert.deepEqual(figuresOf([]), { filled: 0, numbers: 0, sum: 0 })
})

test('averages are rounded to what one reads', () => {
  assert.equal(roundedAverage(605136.6720161), 605136.67)
  assert.equal(roundedAverage(1 / 3), 0.3333)
  assert.equal(roundedAverage(-1000 / 3), -333.33)
})

test('decimal fractions add up', () => {
  assert.equal(figuresOf([0.1, 0.2]).sum, 0.3)
  assert.equal(figuresOf(Array.from({ length: 1000 }, () => 0.1)).sum, 100)
})
