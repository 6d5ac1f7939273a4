import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnWidths } from './column-width.ts'
import type { ResultColumn } from './result-columns.ts'

const measure = { value: (text: string) => text.length * 10, head: (text: string) => text.length * 10 }
const column = (name: string): ResultColumn => ({ name, type: 'string', field: null })
const widths = (room: number, ...values: readonly string[]): readonly number[] =>
  columnWidths(
    values.map((_, index) => column(`c${index}`)),
    [Object.fromEntries(values.map((value, index) => [`c${index}`, value]))],
    { room, measure },
  )

test('a long value gets the space that other columns leave', () => {
  assert.deepEqual(widths(1000, 'x'.repeat(60), 'y'.repeat(10)), [626, 126])
  assert.deepEqual(widths(600, 'x'.repeat(60), 'y'.repeat(10)), [474, 126])
})

test('columns with long values share the space, and none takes more than it needs', () => {
  assert.deepEqual(widths(1000, 'x'.repeat(40), 'y'.repeat(90), 'z'), [426, 502, 72])
})

test('without space, a long value is cut at the usual width', () => {
  assert.deepEqual(widths(0, 'x'.repeat(60), 'y'), [360, 72])
})
