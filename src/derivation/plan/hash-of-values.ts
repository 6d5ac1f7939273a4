import type { Derivation, InputValues } from '../definition/derivation-kind.ts'
import { inputHash } from './input-hash.ts'
import { planComputation } from './plan-computation.ts'

/** Returns the input hash of a derivation for a record's values; null if it makes no request for them. */
export function hashOfValues(derivation: Derivation, values: InputValues): string | null {
  const { sha256, inputs: fields } = derivation
  const inputs = Object.fromEntries(fields.map((field) => [field, values[field] ?? null]))
  const planned = planComputation(derivation, inputs)
  if (planned.outcome !== 'run') return null
  return inputHash({ derivationSha256: sha256, inputs, hashed: planned.plan.hashed })
}
