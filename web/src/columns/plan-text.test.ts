import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lostValues, planText } from './plan-text.ts'

const field = (change: string, counts: Partial<Record<'kept' | 'converted' | 'lost', number>> = {}) => ({
  field: 'size',
  before: 'length',
  change,
  kept: 0,
  converted: 0,
  lost: 0,
  misfits: [],
  ...counts,
})
const file = (path: string, before: string | null = 'a') => ({ path, before, after: 'b' })

test('a plan says what becomes of the values, and which derivations are edited', () => {
  const text = (...fields: ReturnType<typeof field>[]) => planText({ fields, files: [file('contract.yaml')] })
  assert.deepEqual(text(field('added')), ['`size` is added.'])
  assert.deepEqual(text(field('renamed', { kept: 2 })), [
    '`length` becomes `size`. 2 values are kept, with their history.',
  ])
  assert.deepEqual(text(field('removed', { lost: 1 })), [
    '`size` is removed, with 1 value. Undo brings it back.',
  ])
  assert.deepEqual(text(field('removed')), ['`size` is removed. It has no values.'])
  assert.deepEqual(text(field('converted', { converted: 1, kept: 2, lost: 3 })), [
    '1 value of `size` is converted.',
    '2 values stay the same.',
    '3 values do not fit.',
  ])
  assert.deepEqual(planText({ fields: [], files: [file('derivations/new.yaml', null)] }), [])
  assert.deepEqual(planText({ fields: [], files: [file('derivations/a.yaml')] }), [
    'The change also edits `a.yaml`.',
  ])
  assert.deepEqual(planText({ fields: [], files: [file('derivations/a.yaml')] }, 'a.yaml'), [])
})

test('a plan says which indexes change, and which fields others can no longer read', () => {
  const text = (indexes: { field: string; change: string }[], breaks: string[]) =>
    planText({ fields: [], files: [], indexes, breaks })
  assert.deepEqual(
    text(
      ['created', 'dropped', 'rebuilt', 'renamed'].map((change) => ({ field: 'size', change })),
      [],
    ),
    [
      '`size` gets an index.',
      '`size` loses its index.',
      '`size` gets its index built anew.',
      '`size` keeps its index.',
    ],
  )
  assert.deepEqual(text([], ['length']), ['Programs and queries that read `length` must change too.'])
  assert.deepEqual(text([], ['length', 'width']), [
    'Programs and queries that read `length` and `width` must change too.',
  ])
})

test('the values that would be lost are counted by field', () => {
  assert.deepEqual(
    lostValues({ fields: [field('removed', { lost: 4 }), { ...field('added'), field: 'x' }] }),
    {
      size: 4,
    },
  )
})
