import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import type { Computed } from '../../definition/derivation-kind.ts'

/** The outcome of validating the values of a step; `unknown` if that is not possible. */
export type Verdict =
  | { readonly is: 'accepted' }
  | { readonly is: 'refused'; readonly detail: string }
  | { readonly is: 'unknown'; readonly detail: string }

/** Returns the values of a step without a failure. */
export function valuesIn(values: Computed['values']): ReadonlyMap<string, JsonValue> {
  return new Map(
    Object.entries(values).map(([target, value]) => [target, value.ok ? value.value : null] as const),
  )
}

/** Whether a step has no value for any target. */
export function isNothing(values: Computed['values']): boolean {
  return [...valuesIn(values).values()].every((value) => value === null)
}

/** Returns why the contract refuses a value; null if it refuses none. */
export function refusalOf(contract: Contract, values: ReadonlyMap<string, JsonValue>): string | null {
  for (const [target, value] of values) {
    const field = contract.fieldByName.get(target)
    const fault = field === undefined ? null : valueError(field, value)
    if (fault !== null) return `field "${target}": ${fault}`
  }
  return null
}
