import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepCountLines } from './step-counts.ts'

test('the results of a step are its share of accepted values and what one of them cost', () => {
  const step = {
    derivation: 'email.yaml',
    step: 1,
    kind: 'http',
    results: 1200,
    accepted: 300,
    cost: 6,
    unpriced_calls: 0,
  }
  const money = (dollars: number): string => `$${dollars}`
  assert.deepEqual(
    stepCountLines(
      {
        steps: [
          step,
          { ...step, step: 2, accepted: 0 },
          { ...step, step: 3, cost: 0 },
          { ...step, step: 4, unpriced_calls: 1 },
          { ...step, step: 5, cost: 0, unpriced_calls: 1200 },
        ],
      },
      money,
    ),
    [
      'email.yaml step 1 (http): 300 of 1,200 accepted (25%), $6, $0.02 per accepted value',
      'email.yaml step 2 (http): 0 of 1,200 accepted (0%), $6',
      'email.yaml step 3 (http): 300 of 1,200 accepted (25%)',
      'email.yaml step 4 (http): 300 of 1,200 accepted (25%), $6, cost of 1 call not set',
      'email.yaml step 5 (http): 300 of 1,200 accepted (25%), cost of 1,200 calls not set',
    ],
  )
  assert.deepEqual(stepCountLines({}, money), [])
})
