import type { JsonValue } from '../../../contract/json.ts'

/** Nesting that JSON.stringify and every walk through a value stand without running out of stack. */
const MAX_DEPTH = 512

/** A number that may be too large for a double has an exponent of three digits or hundreds of digits. */
const MAY_OVERFLOW = /\d[eE]\+?\d{3}|(?<!\d)\d{300}/

/**
 * Parses JSON from a stranger. Undefined when it is no JSON, nests deeper than 512 levels, or holds a number that a
 * double cannot hold (it would become Infinity, which is no JSON value).
 */
export function parseJson(text: string): JsonValue | undefined {
  if (nestsTooDeep(text)) return undefined
  try {
    return JSON.parse(text, MAY_OVERFLOW.test(text) ? refuseInfinity : undefined) as JsonValue
  } catch {
    return undefined
  }
}

function refuseInfinity(_key: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    throw new RangeError('overflow')
  return value
}

/** Looks at brackets outside strings alone: JSON.parse judges the rest. */
function nestsTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = endOfString(text, index)
        break
      case 0x5b:
      case 0x7b:
        depth += 1
        if (depth > MAX_DEPTH) return true
        break
      case 0x5d:
      case 0x7d:
        depth -= 1
        break
    }
  }
  return false
}

/** The index of the quote that ends the string starting at `start`, or the text's end. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes += 1
  return backslashes % 2 === 1
}
