import { DryRun } from './dry-run.ts'
import { runScope } from './run-scope.ts'
import { manualCells } from './manual-cells.ts'
import type { PlanRequest, RunPlan } from '../run-request.ts'

/**
 * What a run with this request would do. Reads only, calls nobody, and gives others their turn of the event loop. A run
 * of the same request over the same store makes exactly as many calls, or with `atMost` no more. Rejects with the
 * signal's reason when it is aborted.
 */
export async function planRun(request: PlanRequest): Promise<RunPlan> {
  const run = new DryRun(request, await runScope(request), { ready: false })
  for (const derivation of run.planner.derivations) {
    for await (const _calls of run.follow(derivation));
  }
  return run.plan(await manualCells(request))
}
