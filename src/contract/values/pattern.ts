import { RE2JS } from 're2js'
import { patternSize } from './pattern-size.ts'

/** The most characters of a pattern. */
export const MAX_PATTERN_LENGTH = 5000

/** The most instructions of a pattern, each of which may examine each character of a text. */
export const MAX_PATTERN_SIZE = 5000

/** The most instructions of all patterns of a contract. */
export const MAX_PATTERN_SIZE_TOGETHER = 40_000

/** The most characters of a text times the size of its pattern: some seconds at worst. */
export const MAX_PATTERN_WORK = 250_000_000

/** A compiled pattern. */
export interface Pattern {
  /** Its approximate number of instructions. */
  readonly size: number
  matches(text: string): boolean
}

/**
 * Compiles a `pattern` of the contract. As in the standard it is ECMA-262 and matches anywhere in the text; it runs
 * in linear time, since neither pattern nor text is trusted. Throws the engine's syntax error, also for unsupported
 * syntax (look-around, back-references), and RangeError for one that is too large.
 */
export function compilePattern(pattern: string): Pattern {
  const size = patternSize(pattern)
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`it has more than ${MAX_PATTERN_LENGTH} characters`)
  }
  if (size > MAX_PATTERN_SIZE) {
    throw new RangeError(
      `written out it has about ${size} parts, and at most ${MAX_PATTERN_SIZE} can be; repeat less`,
    )
  }
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
  return { size, matches: (text) => compiled.test(text) }
}
