import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testField } from '../../api/test-field.ts'
import { decidesOnPlaces } from './use-held-edits.ts'

test('an edit decides on places if the list is filtered or sorted by its field', () => {
  const changes = [{ field: testField({ name: 'area' }) }]
  const none = { conditions: [], sort: null, sql: null }
  assert.equal(decidesOnPlaces(none, changes), false)
  assert.equal(decidesOnPlaces({ ...none, sort: 'name,-area' }, changes), true)
  assert.equal(decidesOnPlaces({ ...none, sort: 'name' }, changes), false)
  const condition = { field: 'area', is: 'filled', value: null } as const
  assert.equal(decidesOnPlaces({ ...none, conditions: [condition] }, changes), true)
  assert.equal(decidesOnPlaces({ ...none, conditions: [{ ...condition, field: 'name' }] }, changes), false)
  assert.equal(decidesOnPlaces({ ...none, sql: 'name = 1' }, changes), true, 'SQL is not parsed here')
})
