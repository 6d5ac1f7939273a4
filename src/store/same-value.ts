import type { JsonValue } from '../contract/json/json.ts'

/** Whether two values of a field have the same JSON text, including the order of keys. */
export function sameValue(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b)
}
