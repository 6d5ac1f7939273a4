import { isUnsafeInteger, numberFrom } from './exact-number.ts'
import { nestsTooDeep } from './json-depth.ts'
import { WrittenNumber } from './written-number.ts'

export interface ParseOptions {
  /** Keeps every plain integer beyond ±(2^53−1) as written, also one that a double represents. */
  readonly writtenIntegers: boolean
}

/**
 * Parses JSON with a {@link WrittenNumber} for each number that would lose digits, except in values that nest too
 * deep, which the caller refuses. Throws SyntaxError like `JSON.parse`.
 */
export function parseExactly(text: string, options: ParseOptions = { writtenIntegers: false }): unknown {
  const value: unknown = JSON.parse(text)
  if (!holdsLossyNumber(text, options) || nestsTooDeep(value)) return value
  return JSON.parse(text, reviverOf(options))
}

/** Returns the reason why a JSON text cannot be parsed without loss of digits; null if it can, and for invalid JSON. */
export function lossyNumberMessage(text: string): string | null {
  if (!holdsLossyNumber(text, { writtenIntegers: false })) return null
  try {
    return firstWrittenNumber(parseExactly(text))?.fault ?? null
  } catch {
    return null
  }
}

/** Matches a JSON number: digits before the point, without leading zeros. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Parses a number of a file: a {@link WrittenNumber} for an integer beyond ±(2^53−1) and if digits would be lost;
 * null for any other text.
 */
export function readNumber(text: string): number | WrittenNumber | null {
  const number = numberFrom(text)
  if (number !== null && !isUnsafeInteger(text)) return number
  return JSON_NUMBER.test(text) ? new WrittenNumber(text) : number
}

/** Returns the first number of a parsed value, at any depth, that a double cannot represent; null if there is none. */
export function firstWrittenNumber(value: unknown): WrittenNumber | null {
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof WrittenNumber) return value
  for (const item of Object.values(value)) {
    const found = firstWrittenNumber(item)
    if (found !== null) return found
  }
  return null
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown

/** A reviver with the source text of primitives as its third argument. */
function reviverOf(options: ParseOptions): Reviver {
  const revive = (_key: string, value: unknown, { source }: { readonly source?: string }): unknown =>
    typeof value === 'number' && source !== undefined && isLossy(source, options)
      ? new WrittenNumber(source)
      : value
  return revive as Reviver
}

/** Matches numbers with 16 digits or more, or a three-digit exponent, and some similar texts in strings. */
const SUSPECT = /(?:^|[[:,\s])(-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d{3,}))/g

/** Searches for numbers that lose digits without a reviver, which is many times slower. */
function holdsLossyNumber(text: string, options: ParseOptions): boolean {
  SUSPECT.lastIndex = 0
  for (let found = SUSPECT.exec(text); found !== null; found = SUSPECT.exec(text)) {
    if (isLossy(found[1] ?? '', options)) return true
  }
  return false
}

function isLossy(text: string, { writtenIntegers }: ParseOptions): boolean {
  return numberFrom(text) === null || (writtenIntegers && isUnsafeInteger(text))
}
