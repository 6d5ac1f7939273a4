import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { isEmpty } from '../../errors/block.ts'
import type { Derivation, InputValues, Plan } from '../definition/derivation-kind.ts'
import { planComputation } from '../hash/plan-computation.ts'
import type { ExpectedCall } from './expected-usage.ts'
import { foreseeSteps } from './foresee-steps.ts'
import type { Planner } from './planner.ts'

interface CallLater {
  readonly derivation: Derivation
  /** Their present values. */
  readonly inputs: InputValues
  /** Inputs that will be computed before. */
  readonly open: ReadonlySet<string>
}

/** A call that a computation may take once earlier fields are computed. */
export interface LaterCall extends ExpectedCall {
  /** Whether it is made if the computation takes any call. */
  readonly isCertain: boolean
  /** The expected share of such computations that make it, by the results so far; null if unknown. */
  readonly reach: number | null
}

/**
 * Returns the prices of the calls that a computation may take some of whose inputs the run computes first: one, or those of its steps. Null if
 * an input that will not change blocks it (D22). Such inputs have their present values, or a placeholder if they have none. If these make no
 * plan, placeholders for all inputs do.
 */
export function priceLater(
  planner: Planner,
  { derivation, inputs, open }: CallLater,
): readonly LaterCall[] | null {
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
  if (planned.outcome === 'run') return callsOf(planner, derivation, planned.plan)
  if (planned.outcome === 'blocked' || planned.outcome === 'skipped') return null
  const other = planComputation(
    derivation,
    guess(() => true),
  )
  return other.outcome === 'run'
    ? callsOf(planner, derivation, other.plan)
    : [{ price: 0, tokens: null, ...MADE }]
}

const MADE = { isCertain: true, reach: 1 }

function callsOf(planner: Planner, derivation: Derivation, plan: Plan): readonly LaterCall[] {
  if (derivation.kind.stepsOf === undefined) return [{ ...planner.expected({ derivation, plan }), ...MADE }]
  const { calls } = foreseeSteps(planner, { derivation, plan, entries: new Map(), isKept: () => false })
  return calls.map(({ step, ...call }) => ({ ...planner.expected(step), ...call }))
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
