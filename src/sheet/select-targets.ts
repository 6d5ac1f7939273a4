import { showNames } from '../contract/json/show-value.ts'
import { OperationError } from '../errors/service-error.ts'
import type { Derivations } from './definition/definition-files.ts'

/**
 * Returns the derived fields asked for, or all. Throws OperationError for one that no derivation computes (D29, D32).
 */
export function selectTargets(
  derivations: Derivations,
  asked: readonly string[] | null,
): ReadonlySet<string> {
  const known = [...derivations.byTarget.keys()]
  if (asked === null) return new Set(known)
  const unknown = asked.filter((target) => !derivations.byTarget.has(target))
  if (unknown.length > 0) {
    throw new OperationError(
      `no derivation has the target ${showNames(unknown)}; ` +
        (known.length > 0 ? `targets are ${known.join(', ')}` : 'this sheet has no derivations'),
      'unknown_target',
    )
  }
  return new Set(asked)
}
