import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'

/** The keys of a derivation file of any kind. */
export const COMMON_KEYS: readonly string[] = [
  'targets',
  'inputs',
  'kind',
  'skip_blank',
  'retry_failed_after',
  'materialization',
]

/** Reads `skip_blank`. `fail` throws a ContractError about a key. */
export function readSkipBlank(keys: JsonObject, fail: (key: string, message: string) => never): boolean {
  const value = valueOf('skip_blank', keys) ?? false
  if (typeof value === 'boolean') return value
  return fail('skip_blank', `skip_blank is ${showValue(value)}; write true or false`)
}

/** The allowed value of `materialization`, which is that of every derivation. */
const MATERIALIZATION: JsonObject = { trigger: 'on_demand', respect_human_override: true }

/** Checks `materialization`, which other programs write and which changes nothing. `fail` throws a ContractError about a key. */
export function checkMaterialization(keys: JsonObject, fail: (key: string, message: string) => never): void {
  const value = valueOf('materialization', keys)
  if (value === undefined) return
  const isKnown =
    isJsonObject(value) &&
    Object.entries(value).every(
      ([name, member]) => Object.hasOwn(MATERIALIZATION, name) && MATERIALIZATION[name] === member,
    )
  if (!isKnown) {
    fail(
      'materialization',
      'materialization can only have trigger: on_demand and respect_human_override: true',
    )
  }
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Ten years; a longer time is an error, since `never` exists. */
const LONGEST_MS = 3650 * 86_400_000

/** Reads `retry_failed_after`, in milliseconds; null when absent, Infinity for `never`. */
export function readRetryFailedAfter(
  keys: JsonObject,
  fail: (key: string, message: string) => never,
): number | null {
  const value = valueOf('retry_failed_after', keys)
  if (value === undefined) return null
  if (value === 'never') return Infinity
  const [, digits = '', unit = ''] =
    /^(\d+(?:\.\d+)?)(s|min|h|d|w)$/.exec(typeof value === 'string' ? value : '') ?? []
  const ms = Math.round(Number(digits) * (UNITS_MS[unit] ?? NaN))
  if (ms >= 1000 && ms <= LONGEST_MS) return ms
  return fail(
    'retry_failed_after',
    `retry_failed_after is ${showValue(value)}; write a time from 1s to 3650d, such as 12h, 7d or 2w, or never`,
  )
}

function valueOf(key: string, keys: JsonObject): JsonValue | undefined {
  return Object.hasOwn(keys, key) ? keys[key] : undefined
}
