import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY_COLUMN, type Condition } from '../state/conditions.ts'
import { queueOf, reviewedBy } from './review-queue.ts'

const PAGE = {
  ids: ['1', '2'],
  states: { 1: { a: 'failed', b: 'missing' }, 2: { a: 'fresh', b: 'failed' } },
  verdicts: { 2: { name: 'flagged' } },
  written: {},
}
const FIELDS = ['name', 'a', 'b']

function cellsWith(...conditions: readonly Condition[]): readonly string[] {
  return queueOf(PAGE, reviewedBy(conditions), FIELDS).map(({ recordId, field }) => `${recordId} ${field}`)
}

test('cells in the states of the conditions are reviewed, by record and field', () => {
  const failed = ['failed']
  assert.deepEqual(cellsWith({ field: ANY_COLUMN, is: 'inState', value: failed }), ['1 a', '2 b'])
  assert.deepEqual(cellsWith({ field: 'b', is: 'inState', value: failed }), ['2 b'])
  assert.deepEqual(cellsWith({ field: 'name', is: 'filled', value: null }), ['1 a', '2 a', '2 b'])
})

test('the failed cells of records with a group of failures are reviewed', () => {
  const value = ['0a1b2c3d4e5f6']
  assert.deepEqual(cellsWith({ field: ANY_COLUMN, is: 'failedWith', value }), ['1 a', '2 b'])
  assert.deepEqual(cellsWith({ field: 'b', is: 'failedWith', value }), ['2 b'])
})

test('flagged cells are reviewed, of any field', () => {
  assert.deepEqual(cellsWith({ field: ANY_COLUMN, is: 'reviewed', value: ['flagged'] }), ['2 name'])
})

test('conditions on writers select the cells that they name, and no others', () => {
  const reviewed = reviewedBy([{ field: ANY_COLUMN, is: 'writtenBy', value: ['agent:*'] }])
  const page = { ...PAGE, written: { 1: { name: true }, 2: { a: true } } } as const
  const cells = queueOf(page, reviewed, FIELDS).map(({ recordId, field }) => `${recordId} ${field}`)
  assert.deepEqual(cells, ['1 name', '2 a'])
})
