import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  extendedTo,
  HEAD_ROW,
  hasWholeRow,
  isSingle,
  moveTo,
  nextInReadingOrder,
  placeInRange,
  rangeOf,
  selectColumn,
  selectPlace,
  selectRow,
} from './cell-range.ts'

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
  assert.deepEqual(range.focus, { row: 5, column: 2 }, 'it stays active')
  assert.deepEqual(moveTo(range, { row: 1, column: 1 }, true, extent).focus, { row: 5, column: 2 })
  assert.equal(isSingle(moveTo(range, { row: 1, column: 1 }, false, extent)), true)
})

test('the first and the last row of a range have its edges', () => {
  const range = { top: 2, bottom: 4, left: 0, right: 1 }
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((row) => placeInRange(range, row)),
    [null, 'top', 'between', 'bottom', null],
  )
  assert.equal(placeInRange({ ...range, bottom: 2 }, 2), 'only')
})

test('a range never contains headers', () => {
  const up = moveTo(selectPlace({ row: 0, column: 2 }), { row: -1, column: 2 }, true, extent)
  assert.equal(up.end.row, 0)
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

test('a fill goes in the direction in which it is longest', () => {
  const range = { top: 2, bottom: 3, left: 1, right: 1 }
  assert.deepEqual(extendedTo(range, { row: 6, column: 2 }), { ...range, bottom: 6 })
  assert.deepEqual(extendedTo(range, { row: 0, column: 2 }), { ...range, top: 0 })
  assert.deepEqual(extendedTo(range, { row: 4, column: 3 }), { ...range, right: 3 })
  assert.deepEqual(extendedTo(range, { row: 3, column: 0 }), { ...range, left: 0 })
  assert.deepEqual(extendedTo(range, { row: 3, column: 1 }), range)
})

test('a column is selected from the first row to the last, and Shift selects the columns between', () => {
  const one = selectColumn(null, 2, false, extent)
  assert.deepEqual(rangeOf(one), { top: 0, bottom: 9, left: 2, right: 2 })
  assert.deepEqual(rangeOf(selectColumn(one, 0, true, extent)), { top: 0, bottom: 9, left: 0, right: 2 })
  assert.deepEqual(
    selectColumn(null, 1, false, { rows: 0, columns: 4 }),
    selectPlace({ row: HEAD_ROW, column: 1 }),
  )
})

test('a row is whole when all of several columns are selected', () => {
  const sheet = { rows: 5, columns: 3 }
  assert.equal(hasWholeRow(selectRow(2, sheet), 2, sheet), true)
  assert.equal(hasWholeRow(selectRow(2, sheet), 1, sheet), false)
  const rows = { focus: { row: 3, column: 2 }, end: { row: 1, column: 0 } }
  assert.equal(hasWholeRow(rows, 2, sheet), true)
  assert.equal(hasWholeRow({ ...rows, end: { row: 1, column: 1 } }, 2, sheet), false)
  assert.equal(hasWholeRow(selectPlace({ row: 0, column: 0 }), 0, { rows: 5, columns: 1 }), false)
  assert.equal(hasWholeRow(selectRow(HEAD_ROW, sheet), HEAD_ROW, sheet), false)
  assert.equal(hasWholeRow(null, 0, sheet), false)
})
