import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cycleSort, formatSort, parseSort, type SortTerm } from './sort-order.ts'

test('a sort of the address bar is read and written the same', () => {
  assert.deepEqual(parseSort('-area,name'), [
    { field: 'area', descending: true },
    { field: 'name', descending: false },
  ])
  assert.equal(formatSort(parseSort('-area,name')), '-area,name')
  assert.equal(formatSort(parseSort(' -area , ,- ')), '-area')
  assert.equal(formatSort(parseSort(null)), null)
})

test('a click cycles from ascending to descending to none', () => {
  let terms: readonly SortTerm[] = parseSort('name')
  const seen = []
  for (let click = 0; click < 4; click += 1) {
    terms = cycleSort(terms, 'area', false)
    seen.push(formatSort(terms))
  }
  assert.deepEqual(seen, ['area', '-area', null, 'area'])
})

test('a click with shift keeps the other fields and their order', () => {
  let terms: readonly SortTerm[] = parseSort('name,area')
  const seen = []
  for (let click = 0; click < 3; click += 1) {
    terms = cycleSort(terms, 'name', true)
    seen.push(formatSort(terms))
  }
  assert.deepEqual(seen, ['-name,area', 'area', 'area,name'])
})
