import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callAgainText,
  isNothing,
  keptResponses,
  planCost,
  retryText,
  reuseText,
  runButtonText,
  runCost,
  totalsOf,
} from './plan-text.ts'

const targets = { a: { compute: 3, cached: 1, skipped: 2 }, b: { compute: 1, cached: 0, skipped: 5 } }
const none = { a: { compute: 0, cached: 0, skipped: 9 } }

test('the button has calls and cost, also as upper bounds or none', () => {
  assert.equal(runButtonText({ targets, calls: 1398, cost: 0.1398 }), 'Run 1,398 calls · $0.14')
  assert.equal(
    runButtonText({ targets, calls: 1, cost: 0.0001, at_most: true }),
    'Run at most 1 call · $0.0001',
  )
  assert.equal(runButtonText({ targets, calls: 4, cost: 0 }), 'Run 4 calls · $0')
  assert.equal(
    runButtonText({ targets: { a: { compute: 0, cached: 12, skipped: 0 } }, calls: 0, cost: 0 }),
    'Fill 12 cells from the cache',
  )
  assert.equal(runButtonText({ targets: none, calls: 0, cost: 0 }), 'Run')
})

test('calls without a price are not shown as free', () => {
  const plan = { targets, calls: 4, cost: 0 }
  assert.equal(runButtonText({ ...plan, unpriced_calls: 4 }), 'Run 4 calls · cost not set')
  assert.equal(planCost({ ...plan, cost: 0.5, unpriced_calls: 1 }), '$0.50 + 1 call of unset cost')
  assert.equal(runCost({ calls: 4, total_cost: 0, unpriced_calls: 4 }), 'cost not set')
  assert.equal(runCost({ calls: 0, total_cost: 0, unpriced_calls: 0 }), '$0')
})

test('a plan has the failed cells that are not tried again yet', () => {
  const plan = (cells: number, next: string | null) => ({
    targets: { a: { compute: 0, cached: 0, skipped: 9, retry_later: { cells, next } } },
    calls: 0,
    cost: 0,
  })
  assert.equal(retryText({ targets, calls: 0, cost: 0 }), null)
  assert.equal(
    retryText(plan(1, null)),
    '1 failed cell is not retried (retry_failed_after). To retry now, choose only failed cells.',
  )
  const next = new Date(Date.now() + 7 * 86_400_000).toISOString()
  assert.match(retryText(plan(1200, next)) ?? '', /^1,200 failed cells are not retried yet, the first on \d/)
})

test('a plan is nothing when no cell would change', () => {
  assert.deepEqual(totalsOf({ targets, calls: 0, cost: 0 }), { compute: 4, cached: 1, skipped: 7, left: 0 })
  assert.equal(isNothing({ targets: none, calls: 0, cost: 0 }), true)
  assert.equal(isNothing({ targets: {}, calls: 0, cost: 0 }), true)
  assert.equal(isNothing({ targets, calls: 0, cost: 0 }), false)
})

test('if responses are kept, the choice has both costs', () => {
  const kept_responses = {
    calls: 240,
    oldest: '2026-11-20T10:00:00.000Z',
    newest: '2026-11-21T10:00:00.000Z',
  }
  const newer = { calls: 3, oldest: '2026-11-21T10:00:00.000Z', newest: '2026-11-22T10:00:00.000Z' }
  const cells = { compute: 250, cached: 0, skipped: 0 }
  const again = {
    targets: { a: { ...cells, kept_responses }, b: cells, c: { ...cells, kept_responses: newer } },
    calls: 250,
    cost: 11.96,
  }
  assert.deepEqual(keptResponses(again), {
    calls: 240,
    oldest: '2026-11-20T10:00:00.000Z',
    newest: '2026-11-22T10:00:00.000Z',
  })
  assert.equal(keptResponses({ targets: { b: cells }, calls: 250, cost: 1 }), null)
  assert.equal(callAgainText(again), 'Call again: $11.96')
  assert.equal(reuseText(again, { ...again, calls: 7, cost: 0.12 }), 'Reuse 243 kept responses: $0.12')
  assert.equal(reuseText(again, null), 'Reuse 240 kept responses: …')
})
