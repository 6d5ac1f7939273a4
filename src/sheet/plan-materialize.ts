import { planRun } from '../derivation/plan-run.ts'
import type { RunPlan } from '../derivation/run-request.ts'
import { prepareCalls } from './prepare-calls.ts'
import { checkBounds, resolveSelection, type RunSelection } from './run-selection.ts'
import type { Sheet } from './sheet.ts'

/**
 * What a run with this selection would do and cost. Writes nothing, publishes nothing, calls nobody, and waits for no
 * lock. Throws ValidationError, ContractError, and OperationError for an unknown target or where a run would be refused
 * for want of something that its calls need (D23).
 */
export async function planMaterialize(sheet: Sheet, selection: RunSelection): Promise<RunPlan> {
  checkBounds(selection)
  const { plan } = await resolveSelection(sheet, selection, sheet.stopping)
  await prepareCalls(plan)
  return planRun(plan)
}
