import assert from 'node:assert/strict'
import type { RunPlan } from '../../src/derivation/run-request.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'

/** Holds the plan of recomputing that a dry run returned to the plan of the run, once the change is made. */
export async function checkRecomputing(
  sheet: Sheet,
  recomputing: RunPlan | null,
  what?: string,
): Promise<void> {
  if (recomputing === null) return
  const targets = Object.keys(recomputing.targets)
  const plan = await planMaterialize(sheet, { targets, recordIds: null, force: false })
  assert.deepEqual(shown(recomputing), shown(plan), what)
}

function shown({ targets, ...plan }: RunPlan): object {
  const { calls, cost, range, estimate, unpricedCalls, atMost } = plan
  const cells = Object.entries(targets).map(([name, { compute, cached }]) => [name, compute, cached])
  return { cells, calls, cost, range, estimate, unpricedCalls, atMost }
}
