import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contract } from '../contract.ts'
import { parseContract } from '../odcs/parse-contract.ts'
import { classifyChanges } from './classify-changes.ts'

function contract(fields: readonly string[], more = ''): Contract {
  const properties = ['{name: id, logicalType: string, primaryKey: true}', ...fields]
  const lines = properties.map((field) => `      - ${field}`).join('\n')
  return parseContract(
    `apiVersion: v3.1.0\nkind: DataContract\nid: x\nversion: '1'\n${more}schema:\n  - name: x\n    properties:\n${lines}\n`,
  )
}

const BEFORE = contract([
  '{name: a, logicalType: string}',
  '{name: b, logicalType: integer}',
  '{name: c, logicalType: string}',
])

test('each change of a field is listed by what it means for stored values', () => {
  const after = contract([
    '{name: b, logicalType: number, description: Size}',
    '{name: a, logicalType: string, logicalTypeOptions: {maxLength: 5}, x-editable-by: []}',
    '{name: d, logicalType: date}',
  ])
  assert.deepEqual(classifyChanges(BEFORE, after), [
    { change: 'retype', field: 'b', from: 'integer', to: 'number' },
    { change: 'constraint', field: 'a', tightened: true },
    { change: 'permission', field: 'a' },
    { change: 'add', field: 'd' },
    { change: 'remove', field: 'c' },
    { change: 'reorder', fields: ['id', 'b', 'a', 'd'] },
  ])
  assert.deepEqual(classifyChanges(after, after), [])
})

test('a renamed field is one change, with what else changed of it', () => {
  const after = contract([
    '{name: x, logicalType: string, unique: true}',
    '{name: b, logicalType: integer}',
    '{name: c, logicalType: string}',
  ])
  assert.deepEqual(classifyChanges(BEFORE, after, new Map([['a', 'x']])), [
    { change: 'rename', field: 'x', from: 'a' },
    { change: 'constraint', field: 'x', tightened: true },
  ])
  assert.deepEqual(classifyChanges(BEFORE, after), [
    { change: 'add', field: 'x' },
    { change: 'remove', field: 'a' },
  ])
})

test('relaxed constraints, texts, and changes of the whole contract are told apart', () => {
  const strict = contract(['{name: a, logicalType: string, required: true}'])
  const relaxed = contract(['{name: a, logicalType: string, description: Name}'])
  assert.deepEqual(classifyChanges(strict, relaxed), [{ change: 'constraint', field: 'a', tightened: false }])
  const described = contract(['{name: a, logicalType: string, description: Name}'], 'name: Books\n')
  assert.deepEqual(classifyChanges(relaxed, described), [{ change: 'other', field: null }])
  const plain = contract(['{name: a, logicalType: string}'], 'name: Books\n')
  assert.deepEqual(classifyChanges(described, plain), [{ change: 'other', field: 'a' }])
  const guarded = contract(
    ['{name: a, logicalType: string}'],
    "name: Books\ncustomProperties: [{property: deletableBy, value: ['human:*']}]\n",
  )
  assert.deepEqual(classifyChanges(plain, guarded), [{ change: 'permission', field: null }])
})
