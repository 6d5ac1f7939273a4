import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formFields, parseDraft, parseDrafts } from './record-draft.ts'
import { testField } from '../../api/test-field.ts'

const ID = testField({ name: 'id', type: 'string', primaryKey: true, required: true })
const AREA = testField({ name: 'area', type: 'number' })
const TAGS = testField({ name: 'tags', type: 'array', itemType: 'string', required: true })

test('arrays have one item on each line', () => {
  assert.deepEqual(parseDraft(TAGS, ' a \n\nb, c\n'), { value: ['a', 'b, c'] })
  assert.deepEqual(parseDraft(testField({ name: 'n', type: 'array', itemType: 'integer' }), '1\n2'), {
    value: [1, 2],
  })
  assert.ok('error' in parseDraft(testField({ name: 'n', type: 'array', itemType: 'integer' }), '1\nx'))
  assert.deepEqual(parseDraft(TAGS, ' '), { value: null })
  assert.deepEqual(parseDraft(testField({ name: 'j', type: 'array' }), '[{"a": 1}]'), { value: [{ a: 1 }] })
})

test('a record is made of the typed values, or all errors are reported', () => {
  assert.deepEqual(parseDrafts([ID, AREA, TAGS], { id: 'x', tags: 'a' }), {
    record: { id: 'x', tags: ['a'] },
  })
  assert.deepEqual(parseDrafts([ID, AREA, TAGS], { area: 'big' }), {
    errors: { id: 'is required', area: '"big" is not a number', tags: 'is required' },
  })
})

test('the id comes first, and fields that may not be written are left out', () => {
  const derived = testField({
    name: 'd',
    type: 'string',
    derived: { derivation: 'd.yaml', kind: 'http', inputs: [] },
  })
  const fields = formFields(
    [derived, AREA, testField({ name: 'secret' }), TAGS, ID],
    new Set(['d', 'area', 'tags']),
  )
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['id', 'tags', 'area', 'd'],
  )
})
