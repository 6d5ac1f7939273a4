import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import { OperationError } from '../../../errors/service-error.ts'

interface Bounded {
  readonly levels: readonly (readonly Derivation[])[]
  readonly targets: ReadonlySet<string>
  readonly maxCost: number | null
}

/** Throws OperationError when a run could exceed `maxCost` unnoticed, since the price of one of its derivations is unknown. */
export function requirePrices({ levels, targets, maxCost }: Bounded): void {
  if (maxCost === null) return
  for (const { file, kind, spec, targets: filled } of levels.flat()) {
    if (!filled.some((target) => targets.has(target))) continue
    const problem = kind.priceProblem?.(spec) ?? null
    if (problem === null) continue
    throw new OperationError(
      `max_cost cannot be kept, since ${problem}, which ${file} uses; add the price, or leave max_cost out`,
      'unknown_price',
    )
  }
}
