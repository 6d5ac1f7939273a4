import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CellsUnderWay } from './cells-under-way.ts'

const cell = (id: string, state: string) => ({ record_id: id, field: 'x', state })
const isUnderWay = (cells: CellsUnderWay, id: string): boolean => cells.has({ recordId: id, field: 'x' })

test('a cell is under way from the start of its call to its result', () => {
  const begun = CellsUnderWay.NONE.after([cell('a', 'running'), cell('b', 'running')], 0)
  assert.deepEqual([isUnderWay(begun, 'a'), isUnderWay(begun, 'c')], [true, false])
  const after = begun.after([cell('a', 'failed')], 1000)
  assert.deepEqual([isUnderWay(after, 'a'), isUnderWay(after, 'b')], [false, true])
  assert.equal(begun.has({ recordId: 'a', field: 'y' }), false)
})

test('a cell whose result was not listed is under way for a few seconds at most', () => {
  const begun = CellsUnderWay.NONE.after([cell('a', 'running'), cell('b', 'running')], 0)
  const repeated = begun.after([cell('b', 'running')], 3000).after([], 4000)
  assert.deepEqual([isUnderWay(repeated, 'a'), isUnderWay(repeated, 'b')], [false, true])
})
