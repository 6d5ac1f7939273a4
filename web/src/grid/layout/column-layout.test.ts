import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SheetField } from '../../api/contract.ts'
import { testField } from '../../api/test-field.ts'
import {
  columnAt,
  columnWindow,
  drawsGhost,
  layOutColumns,
  moveName,
  scrollLeftToShow,
  stripLeft,
} from './column-layout.ts'

const field = (name: string): SheetField => testField({ name })

const names = Array.from({ length: 200 }, (_, index) => `f${index}`)
const layout = layOutColumns({ pinned: [field('id')], others: names.map(field) }, () => 100, 50, 1000)

test('columns follow one another', () => {
  assert.equal(layout.width, 50 + 201 * 100)
  assert.equal(layout.pinnedEnd, 150)
  assert.equal(layout.others[0]?.left, 150)
  assert.equal(layout.indexByName.get('f9'), 10)
})

test('only columns near the visible ones are drawn', () => {
  const { first, end } = columnWindow(layout, 5000, 1000)
  assert.ok(end - first < 20, `${end - first} columns`)
  assert.ok((layout.others[first]?.left ?? 0) <= 5150)
  assert.ok((layout.others[end - 1]?.left ?? 0) + 100 >= 6000)
  assert.equal(columnWindow(layout, 0, 1000).first, 0)
  assert.equal(columnWindow(layout, layout.width - 1000, 1000).end, 200)
})

test('most steps of a sideways scroll draw no further columns', () => {
  const windows = Array.from({ length: 240 }, (_, step) => columnWindow(layout, 4000 + step * 10, 1000))
  const changes = windows.filter(
    ({ first, end }, step) =>
      step > 0 && (first !== windows[step - 1]?.first || end !== windows[step - 1]?.end),
  )
  assert.ok(changes.length > 5 && changes.length < 25, `${changes.length} changes`)
})

test('the column under the pointer is the visible one', () => {
  assert.equal(columnAt(layout, 60, 700)?.field.name, 'id')
  assert.equal(columnAt(layout, 151, 0)?.field.name, 'f0')
  assert.equal(columnAt(layout, 151, 100)?.field.name, 'f1')
  assert.equal(columnAt(layout, 99_999, 0)?.field.name, 'f199')
})

test('a column is scrolled into view beside the pinned ones', () => {
  const [, second] = layout.others
  assert.ok(second)
  assert.equal(scrollLeftToShow(layout, second, 700, 1000), 100)
  assert.equal(scrollLeftToShow(layout, second, 0, 1000), 0)
  const far = layout.others[50]
  assert.ok(far)
  assert.equal(scrollLeftToShow(layout, far, 0, 1000), far.left + 100 - 1000)
})

test('in a narrow window, pinned columns scroll with the rest', () => {
  const narrow = layOutColumns(
    { pinned: [field('id'), field('name')], others: [field('x')] },
    () => 120,
    40,
    300,
  )
  assert.deepEqual(
    narrow.columns.map(({ isPinned }) => isPinned),
    [true, false, false],
  )
})

test('a column moves before or after another', () => {
  assert.deepEqual(moveName(['a', 'b', 'c'], 'c', 'a', 'before'), ['c', 'a', 'b'])
  assert.deepEqual(moveName(['a', 'b', 'c'], 'a', 'b', 'after'), ['b', 'a', 'c'])
  assert.deepEqual(moveName(['a', 'b', 'c'], 'b', 'b', 'after'), ['a', 'b', 'c'])
})

test('a column that does not exist yet has its space among the scrolling ones', () => {
  const spaced = (ghostBefore: string | null) =>
    layOutColumns({ pinned: [field('id')], others: ['a', 'b'].map(field) }, () => 100, 50, 1000, {
      ghostBefore,
      ghostWidth: 70,
      tail: 44,
    })
  const between = spaced('b')
  assert.deepEqual(between.ghost, { index: 1, left: 250, width: 70 })
  assert.equal(between.others[1]?.left, 320)
  assert.equal(between.width, 420 + 44)
  assert.deepEqual(spaced(null).ghost, { index: 2, left: 350, width: 70 })
  assert.deepEqual(spaced('a').ghost, { index: 0, left: 150, width: 70 })
  assert.equal(stripLeft(spaced('a'), 0, 2), 150)
  assert.equal(layout.ghost, null)
})

test('what is drawn begins at its own left edge, with or without the column that does not exist yet', () => {
  const long = layOutColumns({ pinned: [], others: names.map(field) }, () => 100, 50, 1000, {
    ghostBefore: 'f100',
    ghostWidth: 70,
    tail: 0,
  })
  assert.equal(drawsGhost(long, 90, 110), true)
  assert.equal(stripLeft(long, 90, 110), 50 + 9000)
  assert.equal(drawsGhost(long, 100, 110), false)
  assert.equal(stripLeft(long, 100, 110), 50 + 10_070)
  assert.equal(drawsGhost(long, 80, 100), false)
})
