/**
 * The maximum nesting of arrays and objects in JSON from clients. JSON.parse accepts any depth, but what
 * walks a value afterwards (JSON.stringify, structured clone, canonical JSON) runs out of stack from some thousands on.
 */
export const JSON_DEPTH_LIMIT = 512

/** Whether a value that JSON.parse made nests deeper than {@link JSON_DEPTH_LIMIT}; `left` is for this function itself. */
export function nestsTooDeep(value: unknown, left = JSON_DEPTH_LIMIT): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (left === 0) return true
  // Written out, since every body goes through it: a tenth of the time that parsing takes.
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (typeof item === 'object' && nestsTooDeep(item, left - 1)) return true
    }
    return false
  }
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof item === 'object' && nestsTooDeep(item, left - 1)) return true
  }
  return false
}
