import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isScaled,
  offsetToShow,
  spacerHeight,
  TALLEST_SPACER,
  toOffset,
  toScrollTop,
} from './scroll-scale.ts'

const ROW = 34
const few = { content: 100 * ROW, viewport: 600 }
const many = { content: 5_000_000 * ROW, viewport: 600 }

test('a few rows scroll as they are', () => {
  assert.equal(isScaled(few), false)
  assert.equal(spacerHeight(few), few.content)
  assert.equal(toScrollTop(few, 777), 777)
  assert.equal(toOffset(few, 777), 777)
})

test('millions of rows stay within the spacer, from the very first to the very last', () => {
  assert.equal(spacerHeight(many), TALLEST_SPACER)
  assert.equal(toOffset(many, 0), 0)
  assert.equal(toOffset(many, TALLEST_SPACER - many.viewport), many.content - many.viewport)
  assert.equal(toScrollTop(many, many.content), TALLEST_SPACER - many.viewport)
})

test('there and back again is the same offset', () => {
  const offset = 4_321_000 * ROW
  assert.ok(Math.abs(toOffset(many, toScrollTop(many, offset)) - offset) < 0.001)
})

test('rows that all fit do not scroll', () => {
  const shape = { content: 100, viewport: 600 }
  assert.equal(toScrollTop(shape, 50), 0)
  assert.equal(toOffset(shape, 50), 0)
})

test('a visible row does not move the view', () => {
  assert.equal(offsetToShow(few, 340, 400, ROW), 340)
  assert.equal(offsetToShow(few, 340, 306, ROW), 306)
  assert.equal(offsetToShow(few, 340, 1000, ROW), 1000 + ROW - 600)
  assert.equal(offsetToShow(few, 0, 99 * ROW, ROW), few.content - few.viewport)
})
