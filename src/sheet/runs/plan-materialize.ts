import { planRun } from '../../derivation/plan/plan-run.ts'
import type { RunPlan } from '../../derivation/run-request.ts'
import { checkSelection } from './selection/check-selection.ts'
import { planKeepFresh } from './selection/keep-fresh.ts'
import { requireOverwritable } from './selection/overwrite-manual.ts'
import { notReady } from '../calls/prepare-calls.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { resolveSelection, type RunSelection } from './selection/run-selection.ts'
import type { Sheet } from '../sheet.ts'

/** The plan of a run: what it would do and cost. */
export interface MaterializePlan extends RunPlan {
  /**
   * The reasons for which the run would fail if it were started in this process now, such as an environment variable
   * that is not set (D23).
   */
  readonly notReady: readonly string[]
  /** The number of failures in a row at one host that would end the run; null for no bound. */
  readonly stopAfterFailures: number | null
}

/** A selection and the actor of the run, needed only when the run overwrites manual values. */
export interface PlanSelection extends RunSelection {
  readonly actor?: GivenActor
}

/**
 * Plans a run with this selection. Writes and publishes nothing, makes no calls, needs no secrets, and waits for no
 * lock. Throws ValidationError, ContractError, OperationError for an unknown target, and PermissionDeniedError when the
 * run would overwrite manual values that its actor may not write.
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
