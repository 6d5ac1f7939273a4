import { isUnsafeInteger, numberFrom } from './exact-number.ts'
import { nestsTooDeep } from './json-depth.ts'
import { WrittenNumber } from './written-number.ts'

export interface ParseOptions {
  /** True has every integer in plain digits beyond ±(2^53−1) as it is written, also one that a double holds. */
  readonly writtenIntegers: boolean
}

/**
 * Parses JSON, and has a {@link WrittenNumber} for each number that would lose digits; not in a value that nests too deep,
 * which is for the caller to refuse. Throws SyntaxError as `JSON.parse` does.
 */
export function parseExactly(text: string, options: ParseOptions = { writtenIntegers: false }): unknown {
  const value: unknown = JSON.parse(text)
  if (!holdsLossyNumber(text, options) || nestsTooDeep(value)) return value
  return JSON.parse(text, reviverOf(options))
}

/** The reason why a JSON text cannot be parsed without loss of digits; null where it can, and for what is no JSON. */
export function lossyNumberFault(text: string): string | null {
  if (!holdsLossyNumber(text, { writtenIntegers: false })) return null
  try {
    return firstWrittenNumber(parseExactly(text))?.fault ?? null
  } catch {
    return null
  }
}

/** A number of JSON: with digits before a point, and no zeros before these. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The number that a decimal text of a file denotes: a {@link WrittenNumber} for an integer beyond ±(2^53−1) and where digits would
 * be lost; null for what is no number.
 */
export function readNumber(text: string): number | WrittenNumber | null {
  const number = numberFrom(text)
  if (number !== null && !isUnsafeInteger(text)) return number
  return JSON_NUMBER.test(text) ? new WrittenNumber(text) : number
}

/** The first number of a parsed value, at any depth, that no double keeps; null where there is none. */
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

/** A reviver that is told how a primitive is written, in its third argument. */
function reviverOf(options: ParseOptions): Reviver {
  const revive = (_key: string, value: unknown, { source }: { readonly source?: string }): unknown =>
    typeof value === 'number' && source !== undefined && isLossy(source, options)
      ? new WrittenNumber(source)
      : value
  return revive as Reviver
}

/** Numbers with 16 digits or more, and those with an exponent of three digits; some of what texts hold looks alike. */
const SUSPECT = /(?:^|[[:,\s])(-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d{3,}))/g

/** Looks for numbers that lose digits without a reviver, which takes many times as long. */
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
