import { manualCells } from '../../../derivation/plan/manual-cells.ts'
import type { PlanRequest } from '../../../derivation/run-request.ts'
import { PermissionDeniedError, ValidationError } from '../../../errors/service-error.ts'
import type { RunSelection } from './run-selection.ts'

/** Throws ValidationError when a run is to overwrite manual values but does not compute all cells. */
export function checkOverwriteManual({ overwriteManual, force, only, keepFresh }: RunSelection): void {
  if (overwriteManual !== true || keepFresh !== undefined) return
  if (!force) {
    throw new ValidationError(
      'overwrite_manual goes with force: without it a run computes no cell that was written by hand; add "force": true',
      'conflicting_parameters',
    )
  }
  if (only !== undefined && only !== null) {
    throw new ValidationError(
      `overwrite_manual does not go with only: no cell that was written by hand is ${only}; leave one of them out`,
      'conflicting_parameters',
    )
  }
}

/** Throws PermissionDeniedError when a run would overwrite manual values that its actor may not write (D28). */
export async function requireOverwritable(
  plan: PlanRequest,
  { overwriteManual = false, actor }: { readonly overwriteManual?: boolean; readonly actor?: string },
): Promise<void> {
  if (!overwriteManual || actor === undefined) return
  const denied = [...(await manualCells(plan))].filter(([target]) => !plan.overwritable.has(target))
  if (denied.length === 0) return
  const reasons = denied.map(([target, count]) => {
    const allowed = plan.contract.fieldByName.get(target)?.editableBy ?? null
    const why =
      allowed === null
        ? 'it is derived, and nobody may write it unless its property in contract.yaml has editableBy'
        : `it is editable by ${allowed.join(', ') || 'nobody'}`
    return `"${target}" (${count} written by hand; ${why})`
  })
  throw new PermissionDeniedError(
    `actor ${JSON.stringify(actor)} may not overwrite ${reasons.join(', ')}; leave out overwrite_manual, which keeps these values, or select other targets`,
    'write_not_permitted',
  )
}
