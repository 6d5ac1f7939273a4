import type { PlanRequest } from '../derivation/run-request.ts'
import { wouldCall } from '../derivation/would-call.ts'
import { OperationError } from '../errors/service-error.ts'

/** Makes sure, before any call, that each derivation the run would call has what its calls need (D23). */
export async function prepareCalls(request: PlanRequest): Promise<void> {
  for (const derivation of request.levels.flat()) {
    if (!derivation.targets.some((target) => request.targets.has(target))) continue
    try {
      derivation.kind.prepare(derivation.spec)
    } catch (error) {
      if (!(error instanceof OperationError) || (await wouldCall(request, derivation))) throw error
    }
  }
}
