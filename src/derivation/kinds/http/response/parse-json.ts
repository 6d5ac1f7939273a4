import { nestsTooDeep } from '../../../../contract/json/json-depth.ts'
import type { JsonValue } from '../../../../contract/json/json.ts'

/** A number that may be too large for a double has an exponent of three digits or hundreds of digits. */
const MAY_OVERFLOW = /\d[eE]\+?\d{3}|(?<!\d)\d{300}/

/**
 * Parses JSON from a stranger. Undefined when it is no JSON, nests deeper than 512 levels, or holds a number that a
 * double cannot hold (it would become Infinity, which is no JSON value).
 */
export function parseJson(text: string): JsonValue | undefined {
  try {
    // The reviver runs out of stack before the depth is looked at, where there is one: that is refused as well.
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
