import { showValue } from '../json/show-value.ts'
import { unsafeInteger, WrittenNumber } from '../json/written-number.ts'

/** The most levels of a value, so that no code that walks it exhausts the stack. */
const MAX_DEPTH = 100

const NUL = String.fromCharCode(0)

/**
 * Returns the error of a value's structure: text that cannot be stored (D13), numbers that JSON or a double cannot
 * represent, and too many levels, at any depth.
 */
export function structureError(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return textError(value)
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${value} is not a JSON number`
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof WrittenNumber) return value.fault
  if (depth === MAX_DEPTH) return `nested more than ${MAX_DEPTH} levels deep`
  if (Array.isArray(value)) {
    return firstError(value, (item, index) => located(`[${index}]`, structureError(item, depth + 1)))
  }
  return firstError(Object.entries(value), ([key, item]) => {
    const fault = textError(key)
    return fault === null ? located(keyStep(key), structureError(item, depth + 1)) : `the key ${fault}`
  })
}

/**
 * Returns the error of an integer that has lost digits (D13) where the contract leaves the type open. Numbers of type
 * `number` may be larger: they are floating point by contract.
 */
export function freeIntegerError(value: unknown): string | null {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? unsafeInteger(value) : null
  }
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof WrittenNumber) return value.fault
  if (Array.isArray(value))
    return firstError(value, (item, index) => located(`[${index}]`, freeIntegerError(item)))
  return firstError(Object.entries(value), ([key, item]) => located(keyStep(key), freeIntegerError(item)))
}

/** Returns the error of a text of any type (D13), or null. */
export function textError(text: string): string | null {
  if (text.includes(NUL)) return `${showValue(text)} contains the character U+0000`
  return text.isWellFormed() ? null : `${showValue(text)} contains a lone surrogate, which is no character`
}

/** Returns the first error that the check finds in the items. */
export function firstError<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | null,
): string | null {
  for (const [index, item] of items.entries()) {
    const fault = check(item, index)
    if (fault !== null) return fault
  }
  return null
}

/** Prefixes an error with its path inside the value: `at .lines[2].sku: …`. */
export function located(step: string, fault: string | null): string | null {
  if (fault === null) return null
  return fault.startsWith('at ') ? `at ${step}${fault.slice(3)}` : `at ${step}: ${fault}`
}

/** Returns a property as part of a path: `.sku`, or in brackets if it is not a plain word. */
export function keyStep(key: string): string {
  return /^[\w$-]{1,80}$/.test(key) ? `.${key}` : `[${showValue(key)}]`
}
