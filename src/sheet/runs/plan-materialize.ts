import { planRun } from '../../derivation/plan/plan-run.ts'
import type { RunPlan } from '../../derivation/run-request.ts'
import { checkSelection } from './selection/check-selection.ts'
import { planKeepFresh } from './selection/keep-fresh.ts'
import { requireOverwritable } from './selection/overwrite-manual.ts'
import { notReady } from '../calls/prepare-calls.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { resolveSelection, type RunSelection } from './selection/run-selection.ts'
import type { Sheet } from '../sheet.ts'

/** What a run would do and cost. */
export interface MaterializePlan extends RunPlan {
  /** What the run would be refused for if it were started here and now, such as an environment variable that is not set (D23). */
  readonly notReady: readonly string[]
  /** Failures in a row at one host that would end the run; null for no such bound. */
  readonly stopAfterFailures: number | null
}

/** A selection, and who would run it: needed only where the run overwrites values written by hand. */
export interface PlanSelection extends RunSelection {
  readonly actor?: GivenActor
}

/**
 * What a run with this selection would do and cost. Writes nothing, publishes nothing, calls nobody, needs no secrets, and
 * waits for no lock. Throws ValidationError, ContractError, OperationError for an unknown target, and PermissionDeniedError where the
 * run would overwrite values written by hand that its actor may not write.
 */
export async function planMaterialize(sheet: Sheet, selection: PlanSelection): Promise<MaterializePlan> {
  checkSelection(selection)
  const { actor: given = null, ...wanted } = selection
  const { keepFresh } = wanted
  if (keepFresh !== undefined) {
    const kept = await planKeepFresh(sheet, { ...wanted, keepFresh }, sheet.stopping)
    return { ...kept, notReady: [], stopAfterFailures: null }
  }
  const order = { ...wanted, ...(wanted.overwriteManual === true && { actor: resolveActor(sheet, given) }) }
  const { plan } = await resolveSelection(sheet, order, sheet.stopping)
  await requireOverwritable(plan, order)
  const { stopAfterFailures } = plan
  return { ...(await planRun(plan)), notReady: await reasons(plan), stopAfterFailures }
}

type ResolvedPlan = Awaited<ReturnType<typeof resolveSelection>>['plan']

async function reasons(plan: ResolvedPlan): Promise<string[]> {
  const { tasks } = plan.store
  // Workers make the calls, where there are any, and have the secrets.
  if (tasks !== undefined && (await tasks.workers()) > 0) return []
  const messages: string[] = []
  for await (const { message } of notReady(plan)) messages.push(message)
  return messages
}
