import type { Field } from '../../../../contract/contract.ts'
import { isJsonObject } from '../../../../contract/json/json.ts'
import type { JsonValue } from '../../../../contract/json/json.ts'
import { showValue } from '../../../../contract/json/show-value.ts'
import { coerceComputed, valueError } from '../../../../contract/values/validate-value.ts'
import type { ParseContext } from '../../../definition/derivation-kind.ts'

/** The values for responses with some statuses, whatever is in their bodies (`on_status`). */
export type StatusValues = ReadonlyMap<number, JsonValue>

/** Reads `on_status`; each value is for all targets. Throws ContractError through the context. */
export function parseStatusValues(
  value: JsonValue,
  targets: readonly string[],
  context: ParseContext,
): StatusValues {
  if (!isJsonObject(value)) {
    const message = `on_status is ${showValue(value)}; write a map of statuses to values, such as {404: null}`
    return context.fail(['on_status'], message)
  }
  const fields = targets.flatMap((target) => context.contract.fieldByName.get(target) ?? [])
  return new Map(
    Object.entries(value).map(([key, given]) => {
      const at = ['on_status', key]
      const status = parseStatus(key, (message) => context.fail(at, message))
      for (const field of fields) {
        const fault = faultOfGiven(field, given)
        if (fault !== null) context.fail(at, `on_status ${status}: field "${field.name}": ${fault}`)
      }
      return [status, given]
    }),
  )
}

function parseStatus(key: string, fail: (message: string) => never): number {
  if (key === '200') return fail('on_status has 200, whose responses have values; response_path says where')
  if (/^[2-5]\d\d$/.test(key)) return Number(key)
  return fail(`on_status has ${showValue(key)}; a status is a whole number from 201 to 599`)
}

/** Returns the violation if a field may not have the same value in many records; null for none. */
function faultOfGiven(field: Field, given: JsonValue): string | null {
  if (field.unique && given !== null)
    return `is unique, and ${showValue(given)} would be given to many records`
  return valueError(field, coerceComputed(field, given))
}
