const MAX_SHOWN = 80

/**
 * A value as messages show it: JSON, at most about 80 characters of it. Arrays and objects are only named, since
 * what a stranger sends can be of any size and depth.
 */
export function showValue(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? 'an array of 1 item' : `an array of ${value.length} items`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  if (value.length <= MAX_SHOWN) return JSON.stringify(value)
  return `${JSON.stringify(value.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, ''))}…`
}
