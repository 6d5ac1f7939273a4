import type { Derivation, InputValues, Plan, StepHashes } from '../definition/derivation-kind.ts'
import { inputHash } from './input-hash.ts'
import { planComputation } from './plan-computation.ts'

/** Returns the input hashes of a planned computation: those of its steps, or one. */
export function hashesOfPlan(
  { sha256 }: Pick<Derivation, 'sha256'>,
  { hashed, hashes }: Plan,
  inputs: InputValues,
): StepHashes {
  if (hashes !== undefined) return hashes
  const whole = inputHash({ derivationSha256: sha256, inputs, hashed })
  return { whole, valid: [whole] }
}

/** Returns the input hashes of a derivation for a record's values; null if it computes nothing for them. */
export function hashesOfValues(derivation: Derivation, values: InputValues): StepHashes | null {
  const { inputs: fields } = derivation
  const inputs = Object.fromEntries(fields.map((field) => [field, values[field] ?? null]))
  const planned = planComputation(derivation, inputs)
  if (planned.outcome !== 'run') return null
  return hashesOfPlan(derivation, planned.plan, inputs)
}
