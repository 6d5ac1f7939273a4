import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CellsUnderWay } from './cells-under-way.ts'
import { stateInRun, type RunningScope } from './running-cells.ts'

const CELL = { recordId: 'a', field: 'x' }
const SCOPE: RunningScope = {
  targets: 'all',
  records: null,
  only: null,
  isBounded: false,
  underWay: CellsUnderWay.NONE,
}
const UNDER_WAY = CellsUnderWay.NONE.after([{ record_id: 'a', field: 'x', state: 'running' }], 0)

test('cells that a run has yet to compute are queued', () => {
  assert.equal(stateInRun(SCOPE, CELL, 'missing'), 'queued')
  assert.equal(stateInRun({ ...SCOPE, targets: new Set(['x']) }, CELL, 'stale'), 'queued')
  assert.equal(stateInRun({ ...SCOPE, targets: new Set(['y']) }, CELL, 'stale'), 'stale')
  assert.equal(stateInRun({ ...SCOPE, records: new Set(['b']) }, CELL, 'missing'), 'missing')
  assert.equal(stateInRun({ ...SCOPE, only: 'stale' }, CELL, 'missing'), 'missing')
  assert.equal(stateInRun({ ...SCOPE, targets: null }, CELL, 'missing'), 'missing')
})

test('cells beyond the bounds of a run are not said to be queued', () => {
  assert.equal(stateInRun({ ...SCOPE, isBounded: true }, CELL, 'missing'), 'missing')
})

test('a cell is running while its call is, and then shows its result', () => {
  const scope = { ...SCOPE, isBounded: true, underWay: UNDER_WAY }
  for (const state of ['missing', 'stale', 'failed', 'fresh'] as const)
    assert.equal(stateInRun(scope, CELL, state), 'running')
  assert.equal(stateInRun(scope, CELL, 'overridden'), 'overridden')
  assert.equal(stateInRun(SCOPE, CELL, 'failed'), 'failed')
})
