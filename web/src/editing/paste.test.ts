import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePaste, PasteError, planPaste, type PastePlace } from './paste.ts'
import { testField } from '../api/test-field.ts'

const NAME = testField({ name: 'Name' })
const AREA = testField({ name: 'Area', type: 'number' })
const SEA = testField({ name: 'Sea', type: 'boolean' })

function place(more: Partial<PastePlace> = {}): PastePlace {
  return { fields: [NAME, AREA, SEA], records: 10, selected: { rows: 1, columns: 1 }, ...more }
}

test('each column is parsed by the type of its field', () => {
  assert.deepEqual(parsePaste('a\t1,234.5\tTRUE\n\t\t\n""\t5\tfalse', [NAME, AREA, SEA]), [
    ['a', 1234.5, true],
    [null, null, null],
    ['', 5, false],
  ])
})

test('a cell that cannot be parsed is reported, and nothing is pasted', () => {
  assert.throws(() => parsePaste('a\t1\nb\tmany', [NAME, AREA]), {
    constructor: PasteError,
    message: 'Nothing pasted: 1 of 4 cells could not be read: line 2, Area: "many" is not a number',
  })
  assert.throws(() => parsePaste(Array(5).fill('x').join('\n'), [AREA]), /line 3, .*; and 2 more$/)
})

test('columns that do not fit are not dropped silently', () => {
  assert.throws(() => parsePaste('a\t1\tb', [NAME, AREA]), /3 columns were copied, but only 2 are available/)
})

test('a single value fills the selection, parsed for each field', () => {
  const plan = planPaste('5', place({ selected: { rows: 2, columns: 2 } }))
  assert.deepEqual(plan, {
    rows: [
      ['5', 5],
      ['5', 5],
    ],
    fields: [NAME, AREA],
    headed: false,
    linesLeft: 0,
  })
})

test('a block that divides the selection is repeated; otherwise it is pasted once', () => {
  const twice = planPaste('a\t1', place({ selected: { rows: 3, columns: 2 } }))
  assert.deepEqual(twice.rows, [
    ['a', 1],
    ['a', 1],
    ['a', 1],
  ])
  const once = planPaste('a\nb', place({ selected: { rows: 3, columns: 1 } }))
  assert.deepEqual(once.rows, [['a'], ['b']])
})

test('lines beyond the last record are counted', () => {
  const { rows, linesLeft } = planPaste('a\nb\nc', place({ records: 2 }))
  assert.deepEqual([rows, linesLeft], [[['a'], ['b']], 1])
})

test('a line beyond the last record is not parsed, so it cannot be wrong', () => {
  assert.equal(planPaste('1\nx', place({ fields: [AREA], records: 1 })).linesLeft, 1)
})

test('an empty clipboard changes nothing, and an empty cell clears', () => {
  assert.deepEqual(planPaste('', place()).rows, [])
  assert.deepEqual(planPaste('\r\n', place()).rows, [[null]])
})

test('a first line of titles or names assigns the columns to fields, and is not pasted', () => {
  const fields = [{ ...NAME, title: 'name.common' }, { ...AREA, title: 'Area (km²)' }, SEA]
  const text = ' Area (km²)\tname.common\n5\ta\n6\tb\n'
  const plan = planPaste(text, place({ fields }))
  assert.deepEqual(
    [plan.headed, plan.fields, plan.rows],
    [
      true,
      [fields[1], fields[0]],
      [
        [5, 'a'],
        [6, 'b'],
      ],
    ],
  )
  assert.deepEqual(planPaste('Sea\tArea\ntrue\t5\n', place()).fields, [SEA, AREA])
  // Values that happen to be a heading: one cell, one line, or beside another value.
  for (const values of ['Name\nx', 'Name\tArea', 'Name\t5\nx\t6', 'Name\tName\nx\ty']) {
    const two = [NAME, { ...NAME, name: 'other', title: 'Other' }, AREA]
    const readable = values.includes('5') ? [NAME, AREA] : two
    assert.equal(planPaste(values, place({ fields: readable })).headed, false, values)
  }
})
