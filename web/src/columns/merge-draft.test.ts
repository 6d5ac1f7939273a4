import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_DRAFT } from './field-draft.ts'
import { mergeDraft } from './merge-draft.ts'

const BEFORE = { ...EMPTY_DRAFT, name: 'area' }

test('settings that only one of two people changed are merged', () => {
  const { draft, conflicts } = mergeDraft(
    BEFORE,
    { ...BEFORE, title: 'Area', required: true },
    { ...BEFORE, description: 'In km²', required: true },
  )
  assert.deepEqual(draft, { ...BEFORE, title: 'Area', description: 'In km²', required: true })
  assert.deepEqual(conflicts, [])
})

test('a setting that both changed differently is a conflict', () => {
  const { draft, conflicts } = mergeDraft(
    BEFORE,
    { ...BEFORE, title: 'Mine', type: 'number' },
    { ...BEFORE, title: 'Theirs' },
  )
  assert.deepEqual(draft, { ...BEFORE, title: 'Mine', type: 'number' })
  assert.deepEqual(conflicts, ['title'])
})
