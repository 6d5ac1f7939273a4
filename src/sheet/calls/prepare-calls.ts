import type { PlanRequest } from '../../derivation/run-request.ts'
import { wouldCall } from '../../derivation/plan/would-call.ts'
import { OperationError } from '../../errors/service-error.ts'

/**
 * Checks, before any call, that each derivation the run would call has what its calls need (D23). Throws
 * OperationError.
 */
export async function prepareCalls(request: PlanRequest): Promise<void> {
  for await (const error of notReady(request)) throw error
}

/**
 * Yields an error for each derivation that the run would call and that lacks something for it, such as an environment
 * variable.
 */
export async function* notReady(request: PlanRequest): AsyncGenerator<OperationError> {
  for (const derivation of request.levels.flat()) {
    if (!derivation.targets.some((target) => request.targets.has(target))) continue
    try {
      derivation.kind.prepare(derivation.spec)
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      if (await wouldCall(request, derivation)) yield error
    }
  }
}
