import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Budget, mostPossible, Prices } from './budget.ts'

test('a call begins if neither bound would be exceeded, and only then counts', () => {
  const calls = new Budget({ maxCalls: 2, maxCost: null })
  assert.deepEqual(
    [1, 1, 1].map((price) => calls.begin(price)),
    [true, true, false],
  )
  assert.deepEqual([calls.calls, calls.cost], [2, 2])
  const dollars = new Budget({ maxCalls: null, maxCost: 1 })
  assert.deepEqual(
    [0.75, 0.5, 0.25, 0, 0.001].map((price) => dollars.begin(price)),
    [true, false, true, true, false],
  )
  assert.deepEqual([dollars.calls, dollars.cost], [3, 1])
  assert.equal(new Budget({ maxCalls: 0, maxCost: null }).begin(0), false)
})

test('sums of money are exact, so that a call that exactly reaches a bound begins', () => {
  const budget = new Budget({ maxCalls: null, maxCost: 0.3 })
  assert.deepEqual(
    [0.1, 0.1, 0.1, 0.1].map((price) => budget.begin(price)),
    [true, true, true, false],
  )
  assert.equal(budget.cost, 0.3)
  const many = new Prices()
  for (let count = 0; count < 100_000; count += 1) many.add(count % 2 === 0 ? 0.0007 : 0.002)
  assert.equal(many.sum, 135)
  const thirds = new Budget({ maxCalls: null, maxCost: 2 / 3 })
  assert.deepEqual([thirds.begin(1 / 3), thirds.begin(1 / 3), thirds.cost], [true, true, 0.666666667])
})

test('the actual cost of a call replaces its estimate, and bounds apply to the sum of both', () => {
  const budget = new Budget({ maxCalls: null, maxCost: 0.3 })
  assert.deepEqual(
    [budget.begin(0.1), budget.begin(0.1), budget.begin(0.1), budget.begin(0.1)],
    [true, true, true, false],
  )
  budget.settle(0.1, 0.0007)
  assert.deepEqual([budget.calls, budget.cost], [3, 0.2007])
  assert.equal(budget.begin(0.1), false)
  budget.settle(0.1, 0)
  assert.deepEqual([budget.begin(0.1), budget.calls, budget.cost], [true, 4, 0.2007])
  // An estimate that is too low does not delay the end of the run.
  budget.settle(0.1, 0.5)
  assert.deepEqual([budget.cost, budget.begin(0)], [0.6007, false])
})

test('a call is short of money only while a reservation that may free some is open', async () => {
  const budget = new Budget({ maxCalls: 3, maxCost: 0.3 })
  assert.deepEqual([budget.begin(0.2), budget.isShort(0.2), budget.isShort(0.1)], [true, true, false])
  assert.equal(budget.isShort(0.4), false)
  const settled = budget.nextSettled()
  budget.settle(0.2, 0.05)
  await settled
  assert.deepEqual([budget.isShort(0.2), budget.begin(0.2), budget.isShort(0.2)], [false, true, true])
  budget.giveBack(0.2)
  assert.deepEqual([budget.isShort(0.3), budget.begin(0.3)], [false, false])
  assert.deepEqual([budget.begin(0.1), budget.begin(0.1), budget.isShort(0.3)], [true, true, false])
})

test('actual costs that all differ add up exactly', () => {
  const prices = new Prices()
  for (let count = 0; count < 1000; count += 1) {
    prices.add(0.01)
    prices.settle(0.01, count * 0.0000001)
  }
  assert.deepEqual([prices.count, prices.sum, prices.unpriced], [1000, 0.04995, 0])
  // A price without calls is no longer there, else each length of a prompt would leave one.
  assert.deepEqual([...prices], [[0, 1000]])
  prices.settle(0, null)
  assert.deepEqual([prices.count, prices.sum, prices.unpriced], [1000, 0.04995, 1])
})

test('the most calls within bounds are the cheapest ones, the most dollars the dearest', () => {
  const prices = [
    [5, 1],
    [0.1, 10],
    [0, 2],
  ] as const
  assert.deepEqual(mostPossible(prices, { maxCalls: null, maxCost: 0.3 }), { calls: 5, cost: 0.3 })
  assert.deepEqual(mostPossible(prices, { maxCalls: 3, maxCost: null }), { calls: 3, cost: 5.2 })
  assert.deepEqual(mostPossible(prices, { maxCalls: 20, maxCost: 5.55 }), { calls: 12, cost: 5.55 })
  assert.deepEqual(mostPossible(prices, { maxCalls: null, maxCost: null }), { calls: 13, cost: 6 })
})
