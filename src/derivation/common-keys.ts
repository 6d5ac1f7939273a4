import type { JsonObject, JsonValue } from '../contract/json.ts'
import { showValue } from '../contract/show-value.ts'

/** The keys that a derivation file has whatever its kind. */
export const COMMON_KEYS: readonly string[] = ['targets', 'inputs', 'kind', 'skip_blank']

/** Reads `skip_blank`. `fail` throws a ContractError about a key. */
export function readSkipBlank(keys: JsonObject, fail: (key: string, message: string) => never): boolean {
  const value = valueOf('skip_blank', keys) ?? false
  if (typeof value === 'boolean') return value
  return fail('skip_blank', `skip_blank is ${showValue(value)}; write true or false`)
}

function valueOf(key: string, keys: JsonObject): JsonValue | undefined {
  return Object.hasOwn(keys, key) ? keys[key] : undefined
}
