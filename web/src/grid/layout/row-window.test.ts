import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesAhead, pagesOf, visibleRows, rowWindow } from './row-window.ts'

test('the window covers the visible rows at every offset', () => {
  for (let offset = 0; offset < 34 * 400; offset += 7) {
    const { first, end } = rowWindow(offset, 600, 34, 1_000_000)
    assert.ok(first * 34 <= offset && end * 34 >= offset + 600, `at ${offset}`)
    assert.ok(end - first < 100)
  }
})

test('the window ends with the rows', () => {
  assert.deepEqual(rowWindow(0, 600, 34, 3), { first: 0, end: 3, size: 32 })
  assert.deepEqual(rowWindow(0, 600, 34, 0), { first: 0, end: 0, size: 32 })
  assert.equal(rowWindow(34 * 1_000_000 - 600, 600, 34, 1_000_000).end, 1_000_000)
})

test('a very tall window does not draw without end', () => {
  const { first, end } = rowWindow(0, 20_000, 34, 1_000_000)
  assert.ok(end - first < 100)
})

test('an offset beyond the rows draws none', () => {
  const { first, end } = rowWindow(34 * 500, 600, 34, 10)
  assert.ok(first >= end)
  assert.deepEqual(pagesOf({ first, end }, 100), [])
})

test('rows that are partly visible are visible', () => {
  assert.deepEqual(visibleRows(0, 68, 34, 100), { first: 0, end: 2 })
  assert.deepEqual(visibleRows(1, 68, 34, 100), { first: 0, end: 3 })
  assert.deepEqual(visibleRows(34 * 99, 68, 34, 100), { first: 99, end: 100 })
})

test('pages of a window, and those to prefetch', () => {
  assert.deepEqual(pagesOf({ first: 96, end: 124 }, 100), [0, 1])
  assert.deepEqual(pagesOf({ first: 96, end: 100 }, 100), [0])
  assert.deepEqual(pagesAhead([0, 1], 'down', 10_000, 100), [2, 3])
  assert.deepEqual(pagesAhead([1], 'up', 10_000, 100), [0])
  assert.deepEqual(pagesAhead([0, 1], 'down', 250, 100), [2])
  assert.deepEqual(pagesAhead([], 'down', 250, 100), [])
  assert.deepEqual(pagesAhead([3], 'down', 10_000, 500), [4])
})
