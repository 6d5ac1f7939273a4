import type { Derivation, InputValues } from '../definition/derivation-kind.ts'
import { inputHash } from './input-hash.ts'
import { planComputation } from './plan-computation.ts'

/** The input hash that a derivation makes of a record's values; null when it makes no request of them. */
export function hashOfValues(derivation: Derivation, values: InputValues): string | null {
  const { sha256, inputs: fields } = derivation
  const inputs = Object.fromEntries(fields.map((field) => [field, values[field] ?? null]))
  const planned = planComputation(derivation, inputs)
  if (planned.outcome !== 'run') return null
  return inputHash({ derivationSha256: sha256, inputs, hashed: planned.plan.hashed })
}
