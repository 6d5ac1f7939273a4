import { boundsOf, compareOrdered } from './bounds.ts'
import type { Ordered } from './bounds.ts'
import type { LogicalType } from '../contract.ts'
import { parseMoment, TEMPORAL_FORMS } from './date-time.ts'
import type { TemporalType } from './date-time.ts'
import { isMultipleOf } from './decimal.ts'
import type { JsonObject } from '../json/json.ts'
import { compilePattern, MAX_PATTERN_WORK } from './pattern.ts'
import { showValue } from '../json/show-value.ts'
import { stringFormat, type StringFormat } from './string-format.ts'
import { textError } from './value-structure.ts'
import { unsafeInteger, WrittenNumber } from '../json/written-number.ts'

/** Returns the error of a value that is not null, as a complete message, or null. */
export type Check = (value: unknown) => string | null

/** Returns the checks of `logicalType: string` and its options; lengths count code points. */
export function stringChecks(options: JsonObject): Check[] {
  const { minLength, maxLength, pattern, format } = options
  const checks: Check[] = [
    (value) => (typeof value === 'string' ? textError(value) : `${showValue(value)} is not a string`),
  ]
  // The number of code points is between half the length and the length: mostly nothing has to be counted.
  if (typeof minLength === 'number') {
    checks.push((value) => {
      const text = value as string
      if (text.length >= minLength * 2 || (text.length >= minLength && codePoints(text) >= minLength))
        return null
      return `${showValue(text)} is shorter than ${characters(minLength)}`
    })
  }
  if (typeof maxLength === 'number') {
    checks.push((value) => {
      const text = value as string
      if (text.length <= maxLength || (text.length <= maxLength * 2 && codePoints(text) <= maxLength))
        return null
      return `${showValue(text)} is longer than ${characters(maxLength)}`
    })
  }
  if (typeof pattern === 'string') {
    checks.push(patternCheck(pattern))
  }
  if (typeof format === 'string') {
    const known = stringFormat(format)
    if (known) checks.push((value) => formatError(format, known, value as string))
  }
  return checks
}

function formatError(name: string, { longest, fits }: StringFormat, text: string): string | null {
  if (text.length <= longest && fits(text)) return null
  const why =
    text.length > longest ? `: it has ${text.length} characters, at most ${longest} are allowed` : ''
  return `${showValue(text)} is not in the format ${name}${why}`
}

function patternCheck(pattern: string): Check {
  const { size, matches } = compilePattern(pattern)
  const longest = Math.floor(MAX_PATTERN_WORK / Math.max(1, size))
  return (value) => {
    const text = value as string
    if (text.length > longest) {
      return `${showValue(text)} has ${text.length} characters; with a pattern as large as its field's, ${longest} are the most`
    }
    return matches(text) ? null : `${showValue(text)} does not match the pattern ${pattern}`
  }
}

function integerError(value: unknown): string | null {
  if (Number.isSafeInteger(value)) return null
  if (value instanceof WrittenNumber) return value.fault
  if (typeof value === 'number' && Number.isInteger(value)) return unsafeInteger(value)
  return `${showValue(value)} is not an integer`
}

function numberError(value: unknown): string | null {
  if (Number.isFinite(value)) return null
  return value instanceof WrittenNumber ? value.fault : `${showValue(value)} is not a number`
}

/** Returns the checks of `logicalType: integer` or `number` and its options. */
export function numberChecks(type: 'integer' | 'number', options: JsonObject): Check[] {
  const range = rangeError(type, options)
  const step = options['multipleOf']
  const checks: Check[] = [type === 'integer' ? integerError : numberError]
  if (range) checks.push((value) => range(value as number, value))
  if (typeof step === 'number') {
    checks.push((value) =>
      isMultipleOf(value as number, step) ? null : `${showValue(value)} is not a multiple of ${step}`,
    )
  }
  return checks
}

/** Returns the check of `logicalType: date`, `timestamp` or `time` and its options. */
export function temporalCheck(type: TemporalType, options: JsonObject): Check {
  const range = rangeError(type, options)
  return (value) => {
    const moment = typeof value === 'string' ? parseMoment(type, value) : null
    if (moment === null) return `${showValue(value)} is not ${TEMPORAL_FORMS[type]}`
    return range ? range(moment, value) : null
  }
}

/** Checks the bounds in the options; null if there are none. `shown` is the value for the message. */
function rangeError(
  type: LogicalType,
  options: JsonObject,
): ((value: Ordered, shown: unknown) => string | null) | null {
  const { lower, upper } = boundsOf(type, options)
  if (!lower && !upper) return null
  return (value, shown) => {
    const above = lower ? compareOrdered(value, lower.value) : 1
    if (lower && (above < 0 || (above === 0 && !lower.inclusive))) {
      return `${showValue(shown)} is too low: must be ${lower.inclusive ? 'at least' : 'more than'} ${lower.shown}`
    }
    const below = upper ? compareOrdered(upper.value, value) : 1
    if (upper && (below < 0 || (below === 0 && !upper.inclusive))) {
      return `${showValue(shown)} is too high: must be ${upper.inclusive ? 'at most' : 'less than'} ${upper.shown}`
    }
    return null
  }
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}

/** Returns the length of a text in code points. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
