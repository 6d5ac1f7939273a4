import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEAD_ROW, isSingle, moveTo, nextInReadingOrder, rangeOf, selectPlace } from './cell-range.ts'

const extent = { rows: 10, columns: 4 }

test('the selection stays within the cells and their headers', () => {
  const start = selectPlace({ row: 0, column: 0 })
  assert.deepEqual(moveTo(start, { row: -5, column: -1 }, false, extent).focus, { row: HEAD_ROW, column: 0 })
  assert.deepEqual(moveTo(start, { row: 99, column: 99 }, false, extent).focus, { row: 9, column: 3 })
})

test('a range keeps the cell where it began', () => {
  const range = moveTo(selectPlace({ row: 5, column: 2 }), { row: 2, column: 3 }, true, extent)
  assert.deepEqual(rangeOf(range), { top: 2, bottom: 5, left: 2, right: 3 })
  assert.equal(isSingle(range), false)
})

test('a range never contains headers', () => {
  const up = moveTo(selectPlace({ row: 0, column: 2 }), { row: -1, column: 2 }, true, extent)
  assert.equal(up.focus.row, 0)
  const down = moveTo(selectPlace({ row: HEAD_ROW, column: 2 }), { row: 0, column: 2 }, true, extent)
  assert.equal(isSingle(down), true)
})

test('in reading order it continues in the next row, and ends', () => {
  assert.deepEqual(nextInReadingOrder(selectPlace({ row: 1, column: 3 }), false, extent)?.focus, {
    row: 2,
    column: 0,
  })
  assert.deepEqual(nextInReadingOrder(selectPlace({ row: 1, column: 0 }), true, extent)?.focus, {
    row: 0,
    column: 3,
  })
  assert.equal(nextInReadingOrder(selectPlace({ row: 9, column: 3 }), false, extent), null)
})
