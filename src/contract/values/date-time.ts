const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})?$/

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
const DAY = 86_400

/** The types of texts with an order in time (D6). */
export type TemporalType = 'date' | 'timestamp' | 'time'

/** The notation of each type, for messages. */
export const TEMPORAL_FORMS: Readonly<Record<TemporalType, string>> = {
  date: 'a date (YYYY-MM-DD)',
  timestamp: 'a timestamp (ISO 8601 with offset, such as 2024-03-10T14:22:35Z)',
  time: 'a time (HH:MM:SS, with or without offset)',
}

/** A point in time: whole seconds since the first day of year 0, and the digits of the fraction. */
export interface Moment {
  readonly seconds: number
  readonly fraction: string
}

/**
 * Parses a text of the type, null if it is invalid: `YYYY-MM-DD`; ISO 8601 with `T` and an offset `Z` or `±HH:MM`; a
 * time of day, which without an offset counts as UTC. Seconds may be omitted, fractions may have any number of
 * digits.
 */
export function parseMoment(type: TemporalType, text: string): Moment | null {
  if (type === 'time') return parseTime(text, 0, false)
  const day = parseDay(type === 'date' ? text : text.slice(0, 10))
  if (day === null) return null
  if (type === 'date') return { seconds: day * DAY, fraction: '' }
  return text[10] === 'T' ? parseTime(text.slice(11), day, true) : null
}

/** Compares like a comparator: negative if `a` precedes `b`, zero if they are equal, else positive. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds
  const length = Math.max(a.fraction.length, b.fraction.length)
  const [left, right] = [a.fraction.padEnd(length, '0'), b.fraction.padEnd(length, '0')]
  return left < right ? -1 : Number(left > right)
}

/** Returns the days since 0000-01-01. */
function parseDay(text: string): number | null {
  if (!DATE.test(text)) return null
  const year = digits(text, 0) * 100 + digits(text, 2)
  const month = digits(text, 5)
  const day = digits(text, 8)
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0
  if (day < 1 || day > (DAYS_IN_MONTH[month - 1] ?? 0) + (month === 2 ? leap : 0)) return null
  const leapDaysBefore = Math.ceil(year / 4) - Math.ceil(year / 100) + Math.ceil(year / 400)
  return year * 365 + leapDaysBefore + DAYS_BEFORE_MONTH[month - 1]! + (month > 2 ? leap : 0) + day - 1
}

/** Returns the two digits at an index as a number. Much faster than a capturing group. */
function digits(text: string, index: number): number {
  return (text.charCodeAt(index) - 48) * 10 + text.charCodeAt(index + 1) - 48
}

function parseTime(text: string, day: number, needsOffset: boolean): Moment | null {
  const match = TIME.exec(text)
  if (!match) return null
  const [, hours, minutes, seconds = '0', fraction = '', offset] = match
  if (offset === undefined && needsOffset) return null
  const shift = offset === undefined || offset === 'Z' ? 0 : offsetSeconds(offset)
  if (Number(hours) > 23 || Number(minutes) > 59 || shift === null) return null
  const minuteStart = day * DAY + Number(hours) * 3600 + Number(minutes) * 60 - shift
  if (Number(seconds) > 59 && !isLeapSecond(minuteStart, seconds)) return null
  return { seconds: minuteStart + Number(seconds), fraction }
}

/** Whether a 60th second is valid: only at the end of a UTC day (RFC 3339, 5.7). */
function isLeapSecond(minuteStart: number, seconds: string): boolean {
  return seconds === '60' && ((minuteStart % DAY) + DAY) % DAY === DAY - 60
}

function offsetSeconds(offset: string): number | null {
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 23 || minutes > 59) return null
  return (offset.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
}
