import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordDifferenceAnswer } from '../../../src/wire/records/proposals.ts'
import {
  cellsOf,
  chosenRecords,
  partKey,
  tickedState,
  toggled,
  waitingKeys,
  type Ticked,
} from './proposal-parts.ts'
import { fieldOf, proposalOf, recordOf } from './test-proposal.ts'

const NONE: Ticked = new Set()
const A = recordOf('a', { fields: [fieldOf('name'), fieldOf('price', { decision: 'accepted' })] })
const B = recordOf('b', {
  moved: 'changed',
  fields: [fieldOf('name'), fieldOf('price', { moved: true })],
})
const GONE = recordOf('gone', { change: 'delete', fields: [fieldOf('name'), fieldOf('price')] })
const EMPTY = recordOf('empty', { change: 'create', fields: [] })

const cells = (records: readonly RecordDifferenceAnswer[], ticked: Ticked): unknown =>
  cellsOf(chosenRecords(proposalOf({ records: [...records] }), ticked))

test('without a tick, a decision is on all that waits', () => {
  assert.deepEqual(cells([A, B, GONE, EMPTY], NONE), [
    { recordId: 'a', fields: ['name'] },
    { recordId: 'b', fields: ['name', 'price'] },
    { recordId: 'gone' },
    { recordId: 'empty' },
  ])
  assert.deepEqual(cells([{ ...GONE, decision: 'rejected' }], NONE), [])
})

test('with ticks, it is on those of them that wait', () => {
  const ticked = new Set([partKey(A, 'price'), partKey(B, 'name'), partKey(GONE, null)])
  assert.deepEqual(cells([A, B, GONE], ticked), [{ recordId: 'b', fields: ['name'] }, { recordId: 'gone' }])
})

test('a record conflicts only in what is chosen of it', () => {
  const moved = (ticked: Ticked): unknown =>
    chosenRecords(proposalOf({ records: [B] }), ticked).map((record) => record.moved)
  assert.deepEqual(moved(NONE), ['changed'])
  assert.deepEqual(moved(new Set([partKey(B, 'name')])), [null])
  assert.deepEqual(moved(new Set([partKey(B, 'price')])), ['changed'])
  const deleted = { ...B, moved: 'deleted' as const }
  const [record] = chosenRecords(proposalOf({ records: [deleted] }), new Set([partKey(B, 'name')]))
  assert.equal(record?.moved, 'deleted')
})

test('a tick of several parts ticks all, and then none', () => {
  const keys = waitingKeys(B)
  const some = toggled(NONE, keys.slice(0, 1))
  assert.deepEqual([tickedState(NONE, keys), tickedState(some, keys)], ['none', 'some'])
  const all = toggled(some, keys)
  assert.equal(tickedState(all, keys), 'all')
  assert.deepEqual(toggled(all, keys), NONE)
})
