import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PasteError, planPaste, type PastePlace, type PastePlan } from './paste.ts'
import { SHOWN_NOTATION } from '../values/value-text.ts'
import { testField } from '../api/test-field.ts'

const NAME = testField({ name: 'Name' })
const AREA = testField({ name: 'Area', type: 'number' })
const SEA = testField({ name: 'Sea', type: 'boolean' })

function place(more: Partial<PastePlace> = {}): PastePlace {
  return {
    fields: [NAME, AREA, SEA],
    records: 10,
    selected: { rows: 1, columns: 1 },
    mayWrite: () => true,
    ...more,
  }
}

/** The values of the cells of lines, by field name. */
function valuesOf(lines: PastePlan['rows']): readonly Readonly<Record<string, unknown>>[] {
  return lines.map((cells) => Object.fromEntries(cells.map(({ field, value }) => [field.name, value])))
}

test('each column is parsed by the type of its field', () => {
  assert.deepEqual(valuesOf(planPaste('a\t1,234.5\tTRUE\n\t\t\n""\t5\tfalse', place()).rows), [
    { Name: 'a', Area: 1234.5, Sea: true },
    { Name: null, Area: null, Sea: null },
    { Name: '', Area: 5, Sea: false },
  ])
})

test('a cell that cannot be parsed is reported, and nothing is pasted', () => {
  assert.throws(() => planPaste('a\t1\nb\tmany', place()), {
    constructor: PasteError,
    message: 'Nothing pasted: 1 of 4 cells could not be read: line 2, Area: "many" is not a number',
  })
  assert.throws(
    () => planPaste(Array(5).fill('x').join('\n'), place({ fields: [AREA] })),
    /line 3, .*; and 2 more$/,
  )
})

test('columns that do not fit are not dropped silently', () => {
  assert.throws(
    () => planPaste('a\t1\tb', place({ fields: [NAME, AREA] })),
    /3 columns were copied, but only 2 are available/,
  )
})

test('a single value fills the selection, parsed for each field', () => {
  const plan = planPaste('5', place({ selected: { rows: 2, columns: 2 } }))
  assert.deepEqual(valuesOf(plan.rows), [
    { Name: '5', Area: 5 },
    { Name: '5', Area: 5 },
  ])
  assert.deepEqual([plan.fields, plan.headed, plan.created], [[NAME, AREA], false, []])
})

test('a block that divides the selection is repeated; otherwise it is pasted once', () => {
  const twice = planPaste('a\t1', place({ selected: { rows: 3, columns: 2 } }))
  assert.deepEqual(
    valuesOf(twice.rows),
    [0, 1, 2].map(() => ({ Name: 'a', Area: 1 })),
  )
  const once = planPaste('a\nb', place({ selected: { rows: 3, columns: 1 } }))
  assert.deepEqual(valuesOf(once.rows), [{ Name: 'a' }, { Name: 'b' }])
})

test('lines below the last record become new records, also in an empty list', () => {
  const plan = planPaste('a\nb\nc', place({ records: 2 }))
  assert.deepEqual(
    [valuesOf(plan.rows), valuesOf(plan.created)],
    [[{ Name: 'a' }, { Name: 'b' }], [{ Name: 'c' }]],
  )
  assert.deepEqual(valuesOf(planPaste('a\t1\n\t\n', place({ records: 0 })).created), [{ Name: 'a', Area: 1 }])
  assert.throws(() => planPaste('1\nx', place({ fields: [AREA], records: 1 })), /line 2, Area: "x"/)
})

test('columns that may not be written are skipped and named; a new record takes its id', () => {
  const id = testField({ name: 'Code', primaryKey: true })
  const mayWrite = (field: object): boolean => field === NAME || field === AREA
  const fields = [id, NAME, SEA, AREA]
  const plan = planPaste('x\ta\tnot read\t1\ny\tb\t\t2', place({ fields, records: 1, mayWrite }))
  assert.deepEqual(valuesOf(plan.rows), [{ Name: 'a', Area: 1 }])
  assert.deepEqual(valuesOf(plan.created), [{ Code: 'y', Name: 'b', Area: 2 }])
  assert.deepEqual(plan.skipped, [id, SEA])
  assert.deepEqual(planPaste('x\ta', place({ fields, records: 0, mayWrite })).skipped, [])
})

test('a column is read by the texts that have one meaning; without any, it is reported with how it is read', () => {
  const column = (text: string): PastePlan => planPaste(text, place({ fields: [AREA] }))
  assert.deepEqual(valuesOf(column('1,234\n5,678.50').rows), [{ Area: 1234 }, { Area: 5678.5 }])
  assert.deepEqual(valuesOf(column('1,234\n0,5').rows), [{ Area: 1.234 }, { Area: 0.5 }])
  assert.deepEqual(column('1.234\n1,5').ambiguous, [])
  assert.deepEqual(column('83,601\n7').ambiguous, [
    { field: AREA, texts: ['83,601'], notation: SHOWN_NOTATION },
  ])
  const notations = new Map([['Area', { ...SHOWN_NOTATION, decimal: 'comma' }] as const])
  const chosen = planPaste('83,601', place({ fields: [AREA], notations }))
  assert.deepEqual(valuesOf(chosen.rows), [{ Area: 83.601 }])
  assert.equal(chosen.ambiguous[0]?.notation.decimal, 'comma')
})

test('an empty clipboard changes nothing, and an empty cell clears', () => {
  assert.deepEqual(planPaste('', place()).rows, [])
  assert.deepEqual(valuesOf(planPaste('\r\n', place()).rows), [{ Name: null }])
})

test('a first line of titles or names assigns the columns to fields, and is not pasted', () => {
  const fields = [{ ...NAME, title: 'name.common' }, { ...AREA, title: 'Area (km²)' }, SEA]
  const text = ' Area (km²)\tname.common\n5\ta\n6\tb\n'
  const plan = planPaste(text, place({ fields }))
  assert.deepEqual(
    [plan.headed, plan.fields, plan.rows.map((cells) => cells.map(({ value }) => value))],
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
