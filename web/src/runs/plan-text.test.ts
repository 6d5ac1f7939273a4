import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockedText, isNothing, planCost, runButtonText, runCost, totalsOf } from './plan-text.ts'

const targets = { a: { compute: 3, cached: 1, skipped: 2 }, b: { compute: 1, cached: 0, skipped: 5 } }
const none = { a: { compute: 0, cached: 0, skipped: 9 } }

test('the button says calls and cost, also when they are bounds or nothing', () => {
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

test('what nobody has set a price for is not said to cost nothing', () => {
  const plan = { targets, calls: 4, cost: 0 }
  assert.equal(runButtonText({ ...plan, unpriced_calls: 4 }), 'Run 4 calls · cost not set')
  assert.equal(planCost({ ...plan, cost: 0.5, unpriced_calls: 1 }), '$0.50 + 1 call of unset cost')
  assert.equal(runCost({ calls: 4, total_cost: 0, unpriced_calls: 4 }), 'cost not set')
  assert.equal(runCost({ calls: 0, total_cost: 0, unpriced_calls: 0 }), '$0')
})

test('cells that an input blocks are told with the reasons', () => {
  assert.equal(blockedText({ targets, calls: 0, cost: 0 }), null)
  const blocked = {
    a: { compute: 0, cached: 0, skipped: 1500, blocked: { input_failed: 1200, input_empty: 1 } },
    b: { compute: 0, cached: 0, skipped: 9, blocked: { input_failed: 2 } },
  }
  assert.equal(
    blockedText({ targets: blocked, calls: 0, cost: 0 }),
    '1,203 cells wait: 1,202 for an input that failed, 1 for an input that is empty.',
  )
})

test('a plan is nothing when no cell would change', () => {
  assert.deepEqual(totalsOf({ targets, calls: 0, cost: 0 }), { compute: 4, cached: 1, skipped: 7, left: 0 })
  assert.equal(isNothing({ targets: none, calls: 0, cost: 0 }), true)
  assert.equal(isNothing({ targets: {}, calls: 0, cost: 0 }), true)
  assert.equal(isNothing({ targets, calls: 0, cost: 0 }), false)
})
