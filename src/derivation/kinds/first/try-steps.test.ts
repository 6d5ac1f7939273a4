import assert from 'node:assert/strict'
import { test } from 'node:test'
import { err, ok } from '../../../errors/result.ts'
import type { StepOutcome } from '../../definition/derivation-kind.ts'
import { seededRandom } from '../../../store/suite/support/random.ts'
import { trySteps, type StepsContext, type StepsEnd, type StepToTry } from './try-steps.ts'

/** All that a step can come to. */
const OUTCOMES = [
  'value',
  'null',
  'fails',
  'refused_value',
  'skipped',
  'plan_fails',
  'refused_host',
  'no_table',
  'wrong_key',
  'too_dear',
  'bad_condition',
] as const
type Outcome = (typeof OUTCOMES)[number]

/** The ends that an outcome leads to; the others pass on. */
const ENDS: Readonly<Partial<Record<Outcome, StepsEnd<Outcome>['end']>>> = {
  value: 'accepted',
  refused_host: 'stopped',
  no_table: 'stopped',
  wrong_key: 'stopped',
  too_dear: 'too_dear',
  bad_condition: 'stopped',
}

/** The end of these steps, by the rules of the reference, step by step. */
function expectedEnd(outcomes: readonly Outcome[]): { readonly end: string; readonly carriedOut: number } {
  const last = outcomes.findIndex((outcome) => ENDS[outcome] !== undefined)
  const reached = last === -1 ? outcomes : outcomes.slice(0, last + 1)
  const carriedOut = reached.filter(
    (outcome) => !['skipped', 'plan_fails', 'no_table'].includes(outcome),
  ).length
  if (last !== -1) return { end: ENDS[outcomes[last] ?? 'value'] ?? '', carriedOut }
  const hasFailed = outcomes.some((outcome) => ['fails', 'refused_value', 'plan_fails'].includes(outcome))
  return { end: hasFailed ? 'none_accepted' : 'nothing', carriedOut }
}

function stepOf(outcome: Outcome, index: number): StepToTry<Outcome> {
  const step = { number: index + 1, kind: outcome }
  switch (outcome) {
    case 'skipped':
      return { ...step, planned: { outcome: 'skipped', detail: 'domain has no value' } }
    case 'plan_fails':
      return {
        ...step,
        planned: { outcome: 'failed', failure: { reason: 'computation', request: 'x', detail: 'two rows' } },
      }
    case 'no_table':
      return { ...step, planned: { outcome: 'unusable', detail: 'the table is missing' } }
    default:
      return { ...step, planned: { outcome: 'run', plan: outcome } }
  }
}

function resultOf(outcome: Outcome): StepOutcome {
  const computed = {
    outcome: 'computed',
    evidence: {},
    receivedAt: null,
    cost: 0.001,
    tookCall: true,
    isCached: false,
  } as const
  switch (outcome) {
    case 'refused_host':
      return { outcome: 'refused', detail: 'not allowed' }
    case 'too_dear':
      return { outcome: 'too_dear', price: 2 }
    case 'fails':
      return { ...computed, values: { v: err({ reason: 'timeout', request: 'x', seconds: 1 }) } }
    case 'wrong_key':
      return { ...computed, values: { v: err({ reason: 'status', request: 'x', status: 401 }) } }
    case 'null':
      return { ...computed, values: { v: ok(null) } }
    default:
      return { ...computed, values: { v: ok(outcome) } }
  }
}

const JUDGES: StepsContext<Outcome>['judge'] = async (_number, { v }) => {
  if (v?.ok !== true) return assert.fail('a failure is not validated')
  if (v.value === 'refused_value') return { is: 'refused', detail: 'accept is false' }
  if (v.value === 'bad_condition') return { is: 'unknown', detail: 'no such function' }
  return { is: 'accepted' }
}

test('every combination of outcomes of two and three steps ends as the reference says', async () => {
  const pairs = OUTCOMES.flatMap((one) => OUTCOMES.map((other) => [one, other] as const))
  const all: (readonly Outcome[])[] = [
    ...pairs,
    ...pairs.flatMap((pair) => OUTCOMES.map((third) => [...pair, third])),
  ]
  for (const outcomes of all) {
    const carriedOut: Outcome[] = []
    const end = await trySteps(outcomes.map(stepOf), {
      maxCost: 1,
      carryOut: async (plan) => {
        carriedOut.push(plan)
        return resultOf(plan)
      },
      judge: JUDGES,
    })
    assert.deepEqual(
      { end: end.end, carriedOut: carriedOut.length },
      expectedEnd(outcomes),
      outcomes.join(', '),
    )
    if (end.end === 'accepted') assert.equal(outcomes[end.number - 1], 'value')
    assert.deepEqual(
      end.tried.map(({ step }) => step),
      end.tried.map((_, index) => index + 1),
      'each step up to the last is logged, in order',
    )
  }
})

test('a failure lasts exactly if each failure of a step does', async () => {
  const lasts = async (...outcomes: readonly Outcome[]): Promise<unknown> => {
    const carryOut = (plan: Outcome): Promise<StepOutcome> => Promise.resolve(resultOf(plan))
    const end = await trySteps(outcomes.map(stepOf), { maxCost: null, carryOut, judge: JUDGES })
    return end.end === 'none_accepted' && [end.isLasting, end.detail]
  }
  assert.deepEqual(await lasts('refused_value', 'null', 'plan_fails'), [
    true,
    '1 refused_value: accept is false ($0.001); 2 null: no value ($0.001); 3 plan_fails: two rows',
  ])
  assert.deepEqual(await lasts('refused_value', 'fails'), [
    false,
    '1 refused_value: accept is false ($0.001); 2 fails: timeout after 1 s ($0.001)',
  ])
})

test('the bound of a record is never exceeded in 10,000 random runs, and refuses only what would exceed it', async () => {
  const random = seededRandom(5)
  let [refused, spentAll] = [0, 0]
  for (let run = 0; run < 10_000; run++) {
    const maxCost = random.below(40_000_000) / 1e9
    const steps = Array.from({ length: 1 + random.below(5) }, (_, index) => {
      const most = random.below(20_000_000)
      const actual = random.below(3) === 0 ? most : random.below(most + 1)
      return { ...stepOf('null', index), planned: { outcome: 'run' as const, plan: { most, actual } } }
    })
    // In whole billionths, as the far end bills.
    let spent = 0
    const end = await trySteps(steps, {
      maxCost,
      carryOut: async ({ most, actual }, left) => {
        if (left === null) return assert.fail('there is a bound')
        const isTooDear = spent + most > Math.round(maxCost * 1e9)
        assert.equal(most / 1e9 > left, isTooDear, `${most} of ${left}`)
        if (isTooDear) return { outcome: 'too_dear', price: most / 1e9 }
        spent += actual
        const cost = actual / 1e9
        return {
          outcome: 'computed',
          values: { v: ok(null) },
          evidence: {},
          receivedAt: null,
          cost,
          tookCall: true,
          isCached: false,
        }
      },
      judge: () => assert.fail('null is not validated'),
    })
    assert.ok(spent <= Math.round(maxCost * 1e9))
    if (end.end === 'too_dear') refused += 1
    spentAll += spent
  }
  assert.ok(refused > 1000 && spentAll > 0)
})
