import type { Derivation } from '../definition/derivation-kind.ts'
import { dependenciesOf } from '../definition/graph.ts'
import { DryRun } from './dry-run.ts'
import { runScope } from './run-scope.ts'
import type { PlanRequest } from '../run-request.ts'

/**
 * Whether a run with this request would make a call for a derivation (D23); stops at the first call. If the run first computes something
 * that the derivation's inputs depend on, that counts as a call. So does a call that `maxCalls` or `maxCost` may refuse.
 */
export async function wouldCall(request: PlanRequest, derivation: Derivation): Promise<boolean> {
  if (request.maxCalls === 0) return false
  const unbounded = { ...request, maxCalls: null, maxCost: null }
  const run = new DryRun(unbounded, await runScope(request), { ready: true })
  for (const source of computedBefore(run.planner.derivations, derivation)) {
    for await (const _calls of run.follow(source));
  }
  for await (const calls of run.follow(derivation)) if (calls > 0) return true
  return false
}

/** Returns the run's derivations whose targets are direct or indirect inputs of this one, in their order. */
function computedBefore(derivations: readonly Derivation[], derivation: Derivation): Derivation[] {
  const needed = new Set(dependenciesOf(derivation))
  return derivations
    .toReversed()
    .filter((source) => {
      if (!source.targets.some((target) => needed.has(target))) return false
      for (const input of dependenciesOf(source)) needed.add(input)
      return true
    })
    .toReversed()
}
