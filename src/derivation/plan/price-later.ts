import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { isEmpty } from '../../errors/block.ts'
import type { Derivation, InputValues } from '../definition/derivation-kind.ts'
import { planComputation } from './plan-computation.ts'
import type { ExpectedCall } from './expected-usage.ts'
import type { Planner } from './planner.ts'

interface CallLater {
  readonly derivation: Derivation
  /** Their present values. */
  readonly inputs: InputValues
  /** Inputs that will be computed before. */
  readonly open: ReadonlySet<string>
}

/**
 * Returns the price of a call some of whose inputs the run computes first; null if an input that will not change blocks it (D22). Such
 * inputs have their present values, or a placeholder if they have none. If these make no plan, placeholders for all inputs do.
 */
export function priceLater(
  planner: Planner,
  { derivation, inputs, open }: CallLater,
): Pick<ExpectedCall, 'price' | 'tokens'> | null {
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
  if (planned.outcome === 'run') return planner.expected({ derivation, plan: planned.plan })
  if (planned.outcome === 'blocked' || planned.outcome === 'skipped') return null
  const other = planComputation(
    derivation,
    guess(() => true),
  )
  return other.outcome === 'run'
    ? planner.expected({ derivation, plan: other.plan })
    : { price: 0, tokens: null }
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
