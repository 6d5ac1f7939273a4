import { nestsTooDeep } from '../../../contract/json/json-depth.ts'
import type { JsonValue } from '../../../contract/json/json.ts'

/** Matches an exponent of three digits or a number of hundreds of digits, which may overflow a double. */
const MAY_OVERFLOW = /\d[eE]\+?\d{3}|(?<!\d)\d{300}/

/**
 * Parses JSON from an untrusted source. Undefined if it is not JSON, nests deeper than 512 levels, or has a number that a double cannot
 * hold (it would become Infinity, which is not a JSON value).
 */
export function parseJson(text: string): JsonValue | undefined {
  try {
    // With the reviver, deep nesting overflows the stack before the depth is checked: that is refused as well.
    const value: unknown = JSON.parse(text, MAY_OVERFLOW.test(text) ? refuseInfinity : undefined)
    return nestsTooDeep(value) ? undefined : (value as JsonValue)
  } catch {
    return undefined
  }
}

function refuseInfinity(_key: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    throw new RangeError('overflow')
  return value
}
