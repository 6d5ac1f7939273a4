import type { JsonObject } from '../../contract/json/json.ts'
import { isEmpty } from '../../errors/block.ts'
import type { Derivation, InputValues, Planned } from '../definition/derivation-kind.ts'
import { refuseCommonMembers } from '../definition/evidence.ts'
import { HASH_MEMBERS } from './input-hash.ts'

/**
 * Plans the computation of a derivation from inputs; a required input that is empty blocks it (D22). Pure. Throws Error for a kind whose
 * hashed members or evidence have a reserved name: the former would change what the input hash covers.
 */
export function planComputation(
  { kind, spec, requiredInputs, nonEmptyInputs }: PlannedBy,
  inputs: InputValues,
): Planned {
  const field = requiredInputs.find((name) => isEmpty(inputs[name], nonEmptyInputs.includes(name)))
  if (field !== undefined) return { outcome: 'blocked', field }
  const planned = kind.plan(spec, inputs)
  if (planned.outcome === 'run') {
    refuseHashMembers(kind.name, planned.plan.hashed)
    refuseCommonMembers(kind.name, planned.plan.evidence)
  }
  return planned
}

function refuseHashMembers(kind: string, hashed: JsonObject): void {
  for (const name in hashed) {
    if (HASH_MEMBERS.has(name)) throw new Error(`kind ${kind} hashes a member "${name}", which is reserved`)
  }
}

type PlannedBy = Pick<Derivation, 'kind' | 'spec' | 'requiredInputs' | 'nonEmptyInputs'>
