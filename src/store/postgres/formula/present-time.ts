import type { JsonValue } from '../../../contract/json/json.ts'

/** The words for the current time or day, which PostgreSQL finds anywhere in the text of a date. */
const PRESENT = /(?<![a-z])(?:now|today|tomorrow|yesterday)(?![a-z])/gi

/** The separators of dates in the texts of arrays, ranges and JSON. */
const SEPARATORS = /[,"\\{}()[\]]/

/** Words that a date can have besides, without the names of time zones, of which it can have one. */
const DATE_WORDS =
  /^(?:[ap]m|ad|bc|at|on|dst|[tjdhmsy]|jd|mm|julian|(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?)$/i

/**
 * Returns the first text in a value from which PostgreSQL could make the current time as a date or time, or as one in a range or an array;
 * null if there is none. A sentence such as "Now and then" has too many other words.
 */
export function presentIn(value: JsonValue): string | null {
  if (typeof value === 'string') return isPresent(value) ? value : null
  if (typeof value !== 'object' || value === null) return null
  const parts = Array.isArray(value)
    ? (value as readonly JsonValue[])
    : Object.entries(value).flatMap((entry) => entry)
  for (const part of parts) {
    const present = presentIn(part)
    if (present !== null) return present
  }
  return null
}

function isPresent(text: string): boolean {
  // Quotes and backslashes can be anywhere in an item of an array or a range.
  return [text, text.replaceAll(/["\\]/g, '')].some((each) => each.split(SEPARATORS).some(isPresentDate))
}

function isPresentDate(text: string): boolean {
  const rest = text.replaceAll(PRESENT, ' ')
  if (rest === text) return false
  const words = rest.match(/\p{L}[\p{L}\p{N}/_+.:-]*/gu) ?? []
  return words.filter((word) => !DATE_WORDS.test(/^\p{L}+/u.exec(word)?.[0] ?? '')).length <= 1
}
