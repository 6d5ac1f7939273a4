import { WrittenNumber } from './written-number.ts'

const MAX_SHOWN = 80
const MAX_NAMES = 20

/**
 * A value as messages show it: JSON, at most about 80 characters of it. Arrays and objects are only named, since
 * what a stranger sends can be of any size and depth.
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

/** Names that a stranger sent as messages show them: each as {@link showValue} does, and the first twenty only. */
export function showNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map(showValue).join(', ')
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown
}
