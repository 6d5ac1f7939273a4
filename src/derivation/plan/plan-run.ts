import { DryRun } from './dry-run.ts'
import { runScope } from './run-scope.ts'
import { manualCells } from './manual-cells.ts'
import type { PlanRequest, RunPlan } from '../run-request.ts'

/**
 * Returns the plan of a run with this request. It only reads, makes no call, and yields to other work of the event loop. A run of the same
 * request over the same store makes exactly as many calls, or with `atMost` no more. Rejects with the signal's reason when it is aborted.
 */
export async function planRun(request: PlanRequest): Promise<RunPlan> {
  const run = new DryRun(request, await runScope(request), { ready: false })
  for (const derivation of run.planner.derivations) {
    for await (const _calls of run.follow(derivation));
  }
  return run.plan(await manualCells(request))
}
