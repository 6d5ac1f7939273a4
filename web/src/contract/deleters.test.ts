import assert from 'node:assert/strict'
import test from 'node:test'
import { deletersOf } from './deleters.ts'

const deletableBy = (value: unknown) => [{ property: 'deletableBy', value }]
const schema = [{ name: 'sheet', properties: [] }] as const

test('who may delete is said by the contract or by its schema entry', () => {
  assert.deepEqual(deletersOf({ schema, customProperties: deletableBy(['human:*']) }), ['human:*'])
  const inSchema = [{ name: 'sheet', properties: [], customProperties: deletableBy([]) }] as const
  assert.deepEqual(deletersOf({ schema: inSchema }), [])
})

test('anybody may where nothing is said, and where everybody is named', () => {
  assert.equal(deletersOf({ schema }), null)
  assert.equal(deletersOf({ schema, customProperties: deletableBy(['human:*', '*']) }), null)
})
