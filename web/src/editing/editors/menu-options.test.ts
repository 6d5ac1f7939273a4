import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchingOptions, optionsOf, stepIn } from './menu-options.ts'

const REGION = {
  type: 'string',
  values: ['Africa', 'Americas', 'Asia', 'South Africa', ''],
  required: false,
} as const

test('no value is offered only if the field may be empty', () => {
  assert.deepEqual(
    optionsOf({ type: 'boolean', values: null, required: true }).map(({ value }) => value),
    [true, false],
  )
  assert.deepEqual(
    optionsOf({ type: 'boolean', values: null, required: false }).map(({ value }) => value),
    [true, false, null],
  )
})

test('an empty text and no value are distinguished', () => {
  const labels = optionsOf(REGION).map(({ label }) => label)
  assert.deepEqual(labels.slice(-2), ['Empty text', 'No value'])
})

test('values that begin with the typed text come before those that contain it', () => {
  const found = matchingOptions(optionsOf(REGION), 'AF').map(({ label }) => label)
  assert.deepEqual(found, ['Africa', 'South Africa'])
  assert.equal(matchingOptions(optionsOf(REGION), 'zz').length, 0)
  assert.equal(matchingOptions(optionsOf(REGION), ' ').length, 6)
})

test('arrows wrap around, pages stop at the ends', () => {
  assert.equal(stepIn('ArrowDown', 2, 3), 0)
  assert.equal(stepIn('ArrowUp', 0, 3), 2)
  assert.equal(stepIn('PageDown', 1, 3), 2)
  assert.equal(stepIn('PageUp', 1, 3), 0)
  assert.equal(stepIn('a', 1, 3), null)
})
