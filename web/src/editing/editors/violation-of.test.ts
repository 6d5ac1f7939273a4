import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violationOf } from './violation-of.ts'

test('bounds of numbers', () => {
  const options = { exclusiveMinimum: 0, maximum: 100 }
  assert.equal(violationOf({ type: 'number', options }, 0), 'must be more than 0')
  assert.equal(violationOf({ type: 'number', options }, 100.5), 'must be at most 100')
  assert.equal(violationOf({ type: 'number', options }, 100), null)
  assert.equal(
    violationOf({ type: 'integer', options: { minimum: 1, exclusiveMaximum: 5 } }, 5),
    'must be less than 5',
  )
  assert.equal(violationOf({ type: 'integer', options: {} }, 1.5), 'must be a whole number')
  assert.equal(violationOf({ type: 'integer', options: { multipleOf: 5 } }, 7), 'must be a multiple of 5')
  assert.equal(violationOf({ type: 'number', options: { multipleOf: 0.1 } }, 0.3), null)
  assert.equal(violationOf({ type: 'number', options }, null), null)
})

test('bounds of dates, and lengths of texts by characters', () => {
  assert.equal(
    violationOf({ type: 'date', options: { minimum: '2024-01-01' } }, '2023-12-31'),
    'must be at least 2024-01-01',
  )
  assert.equal(
    violationOf({ type: 'string', options: { maxLength: 2 } }, 'abc'),
    '3 characters; at most 2 are allowed',
  )
  assert.equal(violationOf({ type: 'string', options: { maxLength: 2 } }, '👍👍'), null)
  assert.equal(
    violationOf({ type: 'string', options: { minLength: 2 } }, 'a'),
    '1 characters; at least 2 are needed',
  )
})
