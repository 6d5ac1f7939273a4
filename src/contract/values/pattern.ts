import { RE2JS } from 're2js'
import { patternSize } from './pattern-size.ts'

/** A pattern may have this many characters. */
export const MAX_PATTERN_LENGTH = 5000

/** A pattern may compile to about this many instructions, each of which may look at each character of a text. */
export const MAX_PATTERN_SIZE = 5000

/** The patterns of a contract may together compile to about this many. */
export const MAX_PATTERN_SIZE_TOGETHER = 40_000

/** A text may have so many characters that, times the size of the pattern, this comes out: some seconds at worst. */
export const MAX_PATTERN_WORK = 250_000_000

/** A compiled pattern. */
export interface Pattern {
  /** About how many instructions it has. */
  readonly size: number
  matches(text: string): boolean
}

/**
 * Compiles a `pattern` of the contract. As in the standard it is ECMA-262 and matches anywhere in the text; it runs
 * in linear time, since neither pattern nor text is to be trusted. Throws the engine's syntax error, also for what
 * no such engine has (look-around, back-references), and RangeError for one that is too large.
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
