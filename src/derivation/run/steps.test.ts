import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ok } from '../../errors/result.ts'
import type { Derivation, StepPlan } from '../definition/derivation-kind.ts'
import { DEFAULT_HOST_POLICIES } from '../definition/host-policies.ts'
import { FailureStreak } from '../failure-streak.ts'
import { Limiter } from '../limiter/limiter.ts'
import { Budget } from '../plan/budget.ts'
import { testContract } from '../testing/test-contract.ts'
import type { PartsOfRun } from './parts-of-run.ts'
import { Steps } from './steps.ts'
import { Tally } from './tally.ts'

test('a step is done for every record that needs it only when its result is stored, and is carried out once', async () => {
  const contract = testContract({ v: 'string' })
  const { promise: stored, resolve: store } = Promise.withResolvers<readonly never[]>()
  let [commits, calls] = [0, 0]
  const kind = {
    name: 'tried',
    estimate: () => 0.01,
    run: async (_spec: unknown, _plan: unknown, { onSent }: { onSent(): void }) => {
      calls += 1
      onSent()
      return ok({ values: { v: ok('x') }, evidence: {} })
    },
  }
  const derivation = {
    file: 'v.yaml',
    sha256: 'ab',
    kind,
    spec: null,
    targets: ['v'],
    resources: [],
    refusal: null,
  }
  const request = {
    contract,
    force: false,
    policies: DEFAULT_HOST_POLICIES,
    limiter: new Limiter(),
    store: {},
  }
  const parts = {
    planner: { request, cached: async () => new Map(), price: () => 0.01, requestKey: () => null },
    budget: new Budget({ maxCalls: null, maxCost: null }),
    tally: new Tally(
      { total: 2, manual: 0, failed: 0 },
      { onBegun: () => undefined, onCells: () => undefined, onProgress: () => undefined },
    ),
    commits: {
      add: () => {
        commits += 1
        return stored
      },
    },
    streak: new FailureStreak(null),
    signal: new AbortController().signal,
  } as unknown as PartsOfRun
  const steps = new Steps(parts)
  const plan = { request: 'x', hashed: {}, evidence: {} }
  const step: StepPlan = {
    number: 1,
    condition: null,
    derivation: derivation as unknown as Derivation,
    plan,
    hash: `sha256:${'0'.repeat(64)}`,
  }
  let done = 0
  const all = [1, 2].map(async () => {
    const outcome = await steps.carryOut(step, { most: null, recordId: 'a', isWanted: () => true })
    done += 1
    return outcome.outcome === 'computed' && [outcome.cost, outcome.tookCall, outcome.isCached]
  })
  while (commits === 0) await nextTurn()
  for (let turns = 0; turns < 20; turns++) await nextTurn()
  assert.deepEqual([done, calls], [0, 1])
  store([])
  assert.deepEqual(await Promise.all(all), [
    [0.01, true, false],
    [0, false, true],
  ])
  assert.deepEqual([commits, calls], [1, 1])
})
