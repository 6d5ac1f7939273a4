import { isEmpty } from '../../errors/block.ts'
import type { Derivation, InputValues, Planned } from '../definition/derivation-kind.ts'

/** Plans the computation of a derivation from inputs; blocked by a required one that is empty (D22). Pure. */
export function planComputation(
  { kind, spec, requiredInputs, nonEmptyInputs }: PlannedBy,
  inputs: InputValues,
): Planned {
  const field = requiredInputs.find((name) => isEmpty(inputs[name], nonEmptyInputs.includes(name)))
  return field === undefined ? kind.plan(spec, inputs) : { outcome: 'blocked', field }
}

type PlannedBy = Pick<Derivation, 'kind' | 'spec' | 'requiredInputs' | 'nonEmptyInputs'>
