import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notationOf } from './column-notation.ts'

test('texts with one meaning decide on the decimal sign of their column', () => {
  const read = (...texts: readonly string[]) => {
    const { notation, ambiguous } = notationOf({ type: 'number' }, texts)
    return [notation.decimal, ambiguous]
  }
  assert.deepEqual(read('1,234', '5,678.50', '$9', '12%'), ['point', []])
  assert.deepEqual(read('1.234', '0,5', ''), ['comma', []])
  assert.deepEqual(read('1,234', '5', 'x'), ['point', ['1,234']])
  assert.deepEqual(read('83.601'), ['point', ['83.601']])
  assert.deepEqual(read('1,234', '0.5', '0,5'), ['point', ['1,234']], 'both signs occur')
  assert.deepEqual(notationOf({ type: 'integer' }, ['83,601', '83.601']).ambiguous, [])
})

test('texts with one meaning decide on the order of day and month of their column', () => {
  const order = (...texts: readonly string[]) => notationOf({ type: 'date' }, texts)
  assert.equal(order('4/5/2022', '19.4.2022').notation.order, 'dmy')
  assert.equal(order('4/5/2022', '4/19/2022').notation.order, 'mdy')
  assert.deepEqual(order('4/5/2022', '2022-01-02').ambiguous, ['4/5/2022'])
  assert.deepEqual(order('5/5/2022', '2022-01-02').ambiguous, [])
})
