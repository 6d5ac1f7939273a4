import assert from 'node:assert/strict'
import test from 'node:test'
import { deletersOf } from './deleters.ts'

const deletableBy = (value: unknown) => [{ property: 'deletableBy', value }]
const schema = [{ name: 'sheet', properties: [] }] as const

test('the contract or its schema entry names who may delete', () => {
  assert.deepEqual(deletersOf({ schema, customProperties: deletableBy(['human:*']) }), ['human:*'])
  const inSchema = [{ name: 'sheet', properties: [], customProperties: deletableBy([]) }] as const
  assert.deepEqual(deletersOf({ schema: inSchema }), [])
})

test('anyone may delete if no one is named, or everyone is', () => {
  assert.equal(deletersOf({ schema }), null)
  assert.equal(deletersOf({ schema, customProperties: deletableBy(['human:*', '*']) }), null)
})
