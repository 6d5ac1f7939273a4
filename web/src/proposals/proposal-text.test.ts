import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProposalAnswer, RecordDifferenceAnswer } from '../../../src/wire/records/proposals.ts'
import { fieldOf, proposalOf, recordOf } from './test-proposal.ts'
import { changeText, isShown, movedRecords, reasonForMoved, acceptObstacle } from './proposal-text.ts'

const moved = (id: string): RecordDifferenceAnswer =>
  recordOf(id, {
    moved: 'changed',
    fields: [fieldOf('price', { now: 3, moved: true })],
  })

test('a proposal is described in a few words', () => {
  assert.equal(changeText(proposalOf()), 'Write 1 record')
  assert.equal(changeText(proposalOf({ kind: 'delete', record_count: 1200 })), 'Delete 1,200 records')
})

test('a reason names the changed records, and not all of many', () => {
  assert.equal(reasonForMoved([]), '')
  const records = [recordOf('kept'), moved('a'), recordOf('gone', { moved: 'deleted' })]
  assert.equal(
    reasonForMoved(movedRecords(proposalOf({ records }))),
    'Changed since the proposal: price of a; gone',
  )
  assert.equal(
    reasonForMoved(['a', 'b', 'c', 'd', 'e'].map(moved)),
    'Changed since the proposal: price of a; price of b; price of c and 2 more records',
  )
})

test('an actor who may not accept a proposal sees the reason', () => {
  const titleOf = (field: string): string => field.toUpperCase()
  const why = (proposal: ProposalAnswer, write: string[], mayDelete: boolean): string | null =>
    acceptObstacle(proposal, 'human:ann', { actor: 'human:ann', write, delete: mayDelete }, titleOf)
  assert.match(String(why(proposalOf({ proposed_by: 'human:ann' }), ['price'], true)), /yourself/)
  assert.equal(why(proposalOf(), ['price'], false), null)
  assert.match(String(why(proposalOf(), ['name'], true)), /does not allow human:ann to write PRICE\.$/)
  assert.equal(why(proposalOf({ kind: 'delete' }), [], true), null)
  assert.match(String(why(proposalOf({ kind: 'delete' }), ['price'], false)), /delete records/)
  assert.equal(acceptObstacle(proposalOf(), 'human:ann', undefined, titleOf), null)
})

test('a field without any value is not shown', () => {
  const nothing = fieldOf('x', { was: null, now: null, proposed: null })
  assert.equal(isShown(nothing), false)
  assert.equal(isShown({ ...nothing, proposed: false }), true)
})
