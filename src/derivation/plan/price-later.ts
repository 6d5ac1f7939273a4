import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { isEmpty } from '../../errors/block.ts'
import type { Price } from './budget.ts'
import type { Derivation, InputValues } from '../definition/derivation-kind.ts'
import { planComputation } from './plan-computation.ts'
import type { Planner } from './planner.ts'

interface CallLater {
  readonly derivation: Derivation
  /** As they are now. */
  readonly inputs: InputValues
  /** Inputs that will have been computed by then. */
  readonly open: ReadonlySet<string>
}

/**
 * What a call costs of whose inputs some are computed before it; null when it is blocked by one that will not change
 * (D22). Inputs yet to be computed stand as they are now, those without a value have a stand-in. Should no plan come of
 * that, the price of a call with stand-ins for all inputs is taken.
 */
export function priceLater(
  planner: Planner,
  { derivation, inputs, open }: CallLater,
): { readonly price: Price } | null {
  const { nonEmptyInputs } = derivation
  const { contract } = planner.request
  const guess = (replaces: (field: string) => boolean): InputValues =>
    Object.fromEntries(
      derivation.inputs.map((field) => [
        field,
        replaces(field) ? standIn(contract, field) : (inputs[field] ?? null),
      ]),
    )
  const planned = planComputation(
    derivation,
    guess((field) => open.has(field) && isEmpty(inputs[field], nonEmptyInputs.includes(field))),
  )
  if (planned.outcome === 'run') return { price: planner.price({ derivation, plan: planned.plan }) }
  if (planned.outcome === 'blocked') return null
  const other = planComputation(
    derivation,
    guess(() => true),
  )
  return { price: other.outcome === 'run' ? planner.price({ derivation, plan: other.plan }) : 0 }
}

function standIn(contract: Contract, field: string): JsonValue {
  switch (contract.fieldByName.get(field)?.type) {
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'array':
      return []
    case 'object':
      return {}
    case 'string':
    case 'date':
    case 'timestamp':
    case 'time':
    case undefined:
      return 'x'
  }
}
