import type { Contract } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'

/** The rules for records; `derived` fields may be empty, since they are computed. */
export interface RecordRules {
  readonly contract: Contract
  readonly derived: ReadonlySet<string>
}

/** Yields the violations of the contract in a record's values. */
export function* valueFaults(
  record: JsonObject,
  { contract, derived }: RecordRules,
): Generator<{ readonly field: string; readonly fault: string }> {
  for (const field of contract.fields) {
    const value = Object.hasOwn(record, field.name) ? (record[field.name] ?? null) : null
    const fault = value === null && derived.has(field.name) ? null : valueError(field, value)
    if (fault !== null) yield { field: field.name, fault }
  }
}
