import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY_COMPUTED, type Condition } from '../state/conditions.ts'
import { selectedStates, toggleState } from './with-state.ts'

const OTHER: Condition = { field: 'a', is: 'inState', value: ['fresh'] }

test('states are added to one condition on any computed column, and removed with it', () => {
  const failed = toggleState([OTHER], 'failed')
  assert.deepEqual(failed, [OTHER, { field: ANY_COMPUTED, is: 'inState', value: ['failed'] }])
  const both = toggleState(failed, 'stale')
  assert.deepEqual(selectedStates(both), ['failed', 'stale'])
  assert.equal(both.length, 2)
  assert.deepEqual(toggleState(toggleState(both, 'failed'), 'stale'), [OTHER])
})
