import { planRun } from '../derivation/plan-run.ts'
import type { RunPlan } from '../derivation/run-request.ts'
import { checkKeepFresh, planKeepFresh } from './keep-fresh.ts'
import { notReady } from './prepare-calls.ts'
import { checkBounds, resolveSelection, type RunSelection } from './run-selection.ts'
import type { Sheet } from './sheet.ts'

/** What a run would do and cost. */
export interface MaterializePlan extends RunPlan {
  /** What the run would be refused for if it were started here and now, such as an environment variable that is not set (D23). */
  readonly notReady: readonly string[]
  /** Failures in a row at one host that would end the run; null for no such bound. */
  readonly stopAfterFailures: number | null
}

/**
 * What a run with this selection would do and cost. Writes nothing, publishes nothing, calls nobody, needs no secrets, and
 * waits for no lock. Throws ValidationError, ContractError, and OperationError for an unknown target.
 */
export async function planMaterialize(sheet: Sheet, selection: RunSelection): Promise<MaterializePlan> {
  checkBounds(selection)
  checkKeepFresh(selection)
  const { keepFresh } = selection
  if (keepFresh !== undefined) {
    const kept = await planKeepFresh(sheet, { ...selection, keepFresh }, sheet.stopping)
    return { ...kept, notReady: [], stopAfterFailures: null }
  }
  const { plan } = await resolveSelection(sheet, selection, sheet.stopping)
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
