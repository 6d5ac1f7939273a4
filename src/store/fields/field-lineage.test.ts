import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldLineages, presentLine, spanAt, type FieldSpan } from './field-lineage.ts'
import { importedChange, loggedChange, type StoredFieldChange } from './stored-changes.ts'

const NOTHING = { renamed: [], removed: [], converted: [], restored: [] } as const

function at(seq: number, change: Partial<StoredFieldChange>): StoredFieldChange {
  return { seq, ...NOTHING, ...change }
}

function shown(spans: readonly FieldSpan[]): unknown[] {
  return spans.map(({ name, from, to, column, type, converted }) => [
    name,
    from,
    to,
    column,
    ...(type === null ? [] : [type]),
    ...(converted ? ['converted'] : []),
  ])
}

test('a field has had the names before its renames', () => {
  const lineages = new FieldLineages([at(3, { renamed: [['a', 'b']] }), at(5, { renamed: [['b', 'c']] })])
  assert.deepEqual(shown(lineages.of('c')), [
    ['a', 0, 3, 'c'],
    ['b', 3, 5, 'c'],
    ['c', 5, Infinity, 'c'],
  ])
  // A later field of a former name has no part in that.
  assert.deepEqual(shown(lineages.of('a')), [['a', 3, Infinity, 'a']])
  assert.deepEqual(
    [...lineages.former()],
    [
      ['a', 'c'],
      ['b', 'c'],
      ['c', 'c'],
    ],
  )
  assert.equal(spanAt(lineages.of('c'), 4)?.name, 'b')
})

test('two fields that swap their names keep their own past', () => {
  const lineages = new FieldLineages([
    at(3, {
      renamed: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    }),
  ])
  assert.deepEqual(shown(lineages.of('a')), [
    ['b', 0, 3, 'a'],
    ['a', 3, Infinity, 'a'],
  ])
  assert.deepEqual(shown(lineages.of('b')), [
    ['a', 0, 3, 'b'],
    ['b', 3, Infinity, 'b'],
  ])
})

test('a removed field has no part in the past of another with its name, and has its own when it is restored', () => {
  const removal = at(3, { removed: [{ name: 'a', type: 'string', column: '$kept_3_0' }] })
  const rename = at(5, { renamed: [['b', 'a']] })
  assert.deepEqual(shown(new FieldLineages([removal, rename]).of('a')), [
    ['b', 0, 5, 'a'],
    ['a', 5, Infinity, 'a'],
  ])
  const restore = at(8, { renamed: [['a', 'b']], restored: [{ name: 'a', change: 3, column: '$kept_3_0' }] })
  const lineages = new FieldLineages([removal, rename, restore])
  assert.deepEqual(shown(lineages.of('a')), [
    ['a', 0, 3, 'a'],
    ['a', 8, Infinity, 'a'],
  ])
  assert.equal(spanAt(lineages.of('a'), 4), undefined)
  assert.deepEqual(shown(lineages.of('b')), [
    ['b', 0, 5, 'b'],
    ['a', 5, 8, 'b'],
    ['b', 8, Infinity, 'b'],
  ])
})

test('values before a conversion are in a column of their own', () => {
  const lineages = new FieldLineages([
    at(2, { renamed: [['a', 'b']] }),
    at(4, {
      renamed: [['b', 'c']],
      converted: [{ name: 'c', from: 'string', to: 'number', column: '$kept_4_0' }],
    }),
    at(6, { converted: [{ name: 'c', from: 'number', to: 'integer', column: '$kept_6_0' }] }),
  ])
  assert.deepEqual(shown(lineages.of('c')), [
    ['a', 0, 2, '$kept_4_0', 'string'],
    ['b', 2, 4, '$kept_4_0', 'string', 'converted'],
    ['c', 4, 6, '$kept_6_0', 'number', 'converted'],
    ['c', 6, Infinity, 'c'],
  ])
})

test('a line of the log is read back as the change that it describes, without the columns of a store', () => {
  const change = at(4, {
    renamed: [
      ['b', 'c'],
      ['x', 'constructor'],
    ],
    removed: [{ name: 'y', type: 'date', column: '$kept_4_0' }],
    converted: [{ name: 'c', from: 'string', to: 'number', column: '$kept_4_1' }],
    restored: [{ name: 'z', change: 2, column: '$kept_2_0' }],
  })
  const line: unknown = JSON.parse(
    JSON.stringify({ seq: 4, at: '', ...loggedChange(change, { actor: 'human:ann' }, []) }),
  )
  const without = (all: readonly object[]): object[] => all.map((one) => ({ ...one, column: null }))
  assert.deepEqual(importedChange(line as never), {
    ...change,
    removed: without(change.removed),
    converted: without(change.converted),
    restored: without(change.restored),
  })
})

test('a line of an imported log that is malformed describes no change', () => {
  const lines = [
    { source: 'write' },
    { source: 'contract', renamed: 5 },
    { source: 'contract', renamed: { a: 1 } },
    { source: 'contract', removed: { a: { type: 'text' } } },
    { source: 'contract', converted: { a: 'number' } },
    { source: 'contract', restored: { a: 'x' } },
  ]
  for (const line of lines) assert.equal(importedChange({ seq: 1, ...line }), null, JSON.stringify(line))
})

test('a line of the log has the present names, without removed fields', () => {
  const lineages = new FieldLineages([
    at(3, {
      renamed: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    }),
    at(5, { removed: [{ name: 'c', type: 'string', column: null }] }),
  ])
  const line = { seq: 2, record_id: 'x', values: { a: 1, b: 2, c: 3, d: 4 }, previous: { a: null } }
  assert.deepEqual(presentLine(lineages, line), {
    ...line,
    values: { b: 1, a: 2, d: 4 },
    previous: { b: null },
  })
  assert.deepEqual(presentLine(lineages, { seq: 4, field: 'a', value: 1 }), { seq: 4, field: 'a', value: 1 })
  assert.deepEqual(presentLine(lineages, { seq: 4, field: 'c' }), { seq: 4, field: 'c (removed)' })
})
