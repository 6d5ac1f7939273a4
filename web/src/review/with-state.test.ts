import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY_COLUMN, type Condition } from '../state/conditions.ts'
import { selectedNames, toggleName } from './with-state.ts'

const OTHER: Condition = { field: 'a', is: 'inState', value: ['fresh'] }

test('states are added to one condition on any column, and removed with it', () => {
  const failed = toggleName([OTHER], 'inState', 'failed')
  assert.deepEqual(failed, [OTHER, { field: ANY_COLUMN, is: 'inState', value: ['failed'] }])
  const both = toggleName(failed, 'inState', 'stale')
  assert.deepEqual(selectedNames(both, 'inState'), ['failed', 'stale'])
  assert.equal(both.length, 2)
  assert.deepEqual(toggleName(toggleName(both, 'inState', 'failed'), 'inState', 'stale'), [OTHER])
})

test('verdicts are a condition of their own', () => {
  const flagged = toggleName(toggleName([], 'inState', 'failed'), 'reviewed', 'flagged')
  assert.deepEqual(selectedNames(flagged, 'reviewed'), ['flagged'])
  assert.equal(flagged.length, 2)
})
