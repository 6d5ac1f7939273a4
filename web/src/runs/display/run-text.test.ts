import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeCells, orderOf, retryOrderOf } from '../dialogs/run-order.ts'
import { countsText, endReason, endText, runStateOf, tookMs } from './run-text.ts'
import { runOf } from '../test-runs.ts'

test('an ended run is shown with its counts, and its error', () => {
  assert.equal(
    endText(runOf({ id: '1', state: 'finished', materialized: 1 })),
    'Run 1 finished: 1 cell computed',
  )
  assert.equal(
    endText(runOf({ id: '2', state: 'cancelled', materialized: 1340, failed: 8 })),
    'Run 2 was cancelled: 1,340 cells computed, 8 failed',
  )
  assert.equal(
    endText(
      runOf({
        id: '3',
        state: 'failed',
        error: { type: 'LockTimeoutError', code: 'run_in_progress', message: 'another run goes on' },
      }),
    ),
    'Run 3 failed: 0 cells computed. another run goes on',
  )
  assert.match(
    endReason({ type: 'ServiceError', code: 'internal_error', message: 'internal error' }),
    /the log of the server has details/,
  )
  assert.equal(
    countsText(runOf({ id: '4', kind: 'revert', reverts: '1', materialized: 5, skipped: 2 })),
    '5 cells reverted, 2 skipped',
  )
})

test('an unknown state is not shown as a success', () => {
  assert.equal(runStateOf('exploded'), 'failed')
})

test('the duration of a run is never negative', () => {
  const run = runOf({ id: '1', started_at: '2026-03-01T10:00:00.000Z' })
  assert.equal(tookMs(run, Date.parse('2026-03-01T10:00:05.000Z')), 5000)
  assert.equal(tookMs(run, Date.parse('2026-03-01T09:59:00.000Z')), 0, 'clocks differ')
  assert.equal(tookMs({ ...run, ended_at: '2026-03-01T10:00:01.000Z' }, 0), 1000)
})

test('a run can be requested again unchanged, or for failed cells only', () => {
  const run = {
    ...runOf({ id: '1', targets: ['a'], force: true, only: 'stale', max_cost: 0 }),
    record_ids: ['x'],
  }
  assert.deepEqual(orderOf(run), {
    targets: ['a'],
    record_ids: ['x'],
    force: true,
    only: 'stale',
    max_cost: 0,
  })
  assert.deepEqual(orderOf({ ...run, overwrite_manual: true }), orderOf(run), 'D28: chosen anew')
  assert.deepEqual(retryOrderOf(run), { targets: ['a'], record_ids: ['x'], only: 'failed', force: true })
  assert.deepEqual(retryOrderOf({ ...run, force: false }), {
    targets: ['a'],
    record_ids: ['x'],
    only: 'failed',
  })
  assert.deepEqual(orderOf({ ...runOf({ id: '1' }), record_ids: null }), {})
})

test('the cells of a run are described in a few words', () => {
  const title = (field: string): string => field.toUpperCase()
  assert.equal(
    describeCells({ targets: null, recordCount: null }, title),
    'All derived fields of all records',
  )
  assert.equal(describeCells({ targets: ['a', 'b'], recordCount: 1 }, title), 'A, B of 1 record')
  assert.equal(
    describeCells({ targets: ['a', 'b', 'c', 'd'], recordCount: 1200 }, title),
    '4 fields of 1,200 records',
  )
  assert.equal(describeCells({ targets: [], recordCount: 0 }, title), 'No fields of 0 records')
})
