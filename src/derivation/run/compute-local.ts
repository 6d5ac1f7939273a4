import type { Failure } from '../../errors/failure.ts'
import type { Result } from '../../errors/result.ts'
import type { BatchContext, Computed, DerivationKind, Plan } from '../definition/derivation-kind.ts'

/** Carries out plans of a local kind, all of them together if the kind can; returns their results in their order. */
export async function computeLocal(
  { kind, spec }: { readonly kind: DerivationKind; readonly spec: unknown },
  plans: readonly Plan[],
  context: BatchContext,
): Promise<readonly Result<Computed, Failure>[]> {
  if (plans.length === 0) return []
  const onSent = (): void => undefined
  if (kind.runBatch === undefined) {
    // No other process waits for it, and nothing is lost if the cells are written meanwhile.
    const alone = { ...context, onSent, wanted: () => true, stored: Promise.resolve() }
    return Promise.all(plans.map((plan) => kind.run(spec, plan, alone)))
  }
  const items = plans.map((plan) => ({ plan, onSent }))
  const results = await kind.runBatch(spec, items, context)
  if (results.length !== plans.length)
    throw new Error(`a batch of ${plans.length} computations has ${results.length} results`)
  return results
}
