import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockTimeoutError, OperationError } from '../../errors/service-error.ts'
import { budgetText, CallBudget, withBudget } from './call-budget.ts'

const NONE = { maxCalls: null, maxCost: null }
const PATIENT = { patienceMs: 60_000, signal: new AbortController().signal }

test('without bounds runs neither wait nor count', async () => {
  const budget = new CallBudget(NONE)
  const own = { maxCalls: 7, maxCost: null }
  const [one, other] = await Promise.all([budget.turn(own, PATIENT), budget.turn(own, PATIENT)])
  assert.deepEqual([one.bounds, other.bounds], [own, own])
  assert.deepEqual([budget.answer, withBudget(budget), budgetText(budget.answer)], [null, {}, ''])
})

test('a run gets the lesser of its own bound and the rest, and its spending counts immediately', async () => {
  const budget = new CallBudget({ maxCalls: 5, maxCost: 0.3 })
  const first = await budget.turn({ maxCalls: 2, maxCost: 1 }, PATIENT)
  assert.deepEqual(first.bounds, { maxCalls: 2, maxCost: 0.3 })
  let spent = { calls: 1, totalCost: 0.1 }
  first.spends(() => spent)
  spent = { calls: 2, totalCost: 0.2 }
  assert.equal(budgetText(budget.answer), 'Spent so far: 2 of 5 calls and $0.2 of $0.3.')
  first.end()
  const second = await budget.turn(NONE, PATIENT)
  assert.deepEqual(second.bounds, { maxCalls: 3, maxCost: 0.1 })
  second.end()
})

test('runs spend one after the other in their order, and one that gives up delays no other', async () => {
  const budget = new CallBudget({ maxCalls: 5, maxCost: null })
  const order: string[] = []
  const first = await budget.turn(NONE, PATIENT)
  const stop = new AbortController()
  const givesUp = budget.turn(NONE, { patienceMs: 60_000, signal: stop.signal })
  const tooLong = budget.turn(NONE, { patienceMs: 0, signal: PATIENT.signal })
  const last = budget.turn(NONE, PATIENT).then((turn) => {
    order.push('last')
    return turn
  })
  await assert.rejects(tooLong, LockTimeoutError)
  stop.abort()
  await assert.rejects(givesUp, OperationError)
  order.push('first ends')
  first.end()
  ;(await last).end()
  assert.deepEqual(order, ['first ends', 'last'])
})
