import { planRun } from '../derivation/plan-run.ts'
import type { RunPlan } from '../derivation/run-request.ts'
import { checkBounds, resolveSelection, type RunSelection } from './run-selection.ts'
import type { Sheet } from './sheet.ts'

/**
 * What a run with this selection would do and cost. Writes nothing, publishes nothing, calls nobody, and waits for no
 * lock. Throws ValidationError, OperationError for an unknown target, ContractError.
 */
export async function planMaterialize(sheet: Sheet, selection: RunSelection): Promise<RunPlan> {
  checkBounds(selection)
  const { plan } = await resolveSelection(sheet, selection, sheet.stopping)
  return planRun(plan)
}
