import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../test/support/contract-with.ts'
import { brokenFields, changedIndexes } from './changed-indexes.ts'
import { classifyChanges } from './classify-changes.ts'

test('indexes follow names, types and constraints of fields, and readers break at other names and types', () => {
  const before = contractWith(
    '{name: a, logicalType: string, x-indexed: true}',
    '{name: b, logicalType: string, unique: true}',
    '{name: c, logicalType: string, x-indexed: true}',
    '{name: d, logicalType: string, x-indexed: true}',
    '{name: e, logicalType: string}',
    '{name: f, logicalType: string, x-indexed: true}',
  )
  const after = contractWith(
    '{name: z, logicalType: string, x-indexed: true}',
    '{name: b, logicalType: string}',
    '{name: y, logicalType: integer, x-indexed: true}',
    '{name: e, logicalType: string, x-indexed: true}',
    '{name: f, logicalType: string, x-indexed: true, description: The same}',
    '{name: g, logicalType: date, unique: true}',
  )
  const renamed = new Map([
    ['a', 'z'],
    ['c', 'y'],
  ])
  assert.deepEqual(
    changedIndexes(before, after, renamed).map(({ field, change }) => [field, change]),
    [
      ['z', 'renamed'],
      ['b', 'dropped'],
      ['y', 'rebuilt'],
      ['e', 'created'],
      ['g', 'created'],
      ['d', 'dropped'],
    ],
  )
  assert.deepEqual(brokenFields(classifyChanges(before, after, renamed), renamed), ['a', 'c', 'd'])
})
