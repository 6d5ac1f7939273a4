import { WrittenNumber } from './written-number.ts'

const MAX_SHOWN = 80
const MAX_NAMES = 20

/**
 * Returns a value for messages: JSON of at most about 80 characters. Arrays and objects are only named, since they
 * can have any size and depth.
 */
export function showValue(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? 'an array of 1 item' : `an array of ${value.length} items`
  if (value instanceof WrittenNumber) return value.shown
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  if (value.length <= MAX_SHOWN) return JSON.stringify(value)
  return `${JSON.stringify(value.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, ''))}…`
}

/** Returns names for messages, each like {@link showValue}; only the first twenty. */
export function showNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map(showValue).join(', ')
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown
}
