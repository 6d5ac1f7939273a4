import { parseMoment } from './date-time.ts'

/** Whether the day or the month comes first where a date has both as numbers. */
export type DateOrder = 'dmy' | 'mdy'

export const DATE_ORDERS: readonly DateOrder[] = ['dmy', 'mdy']

/** A date in a common notation, optionally with a time of day. */
export interface ForeignMoment {
  /** The date (`YYYY-MM-DD`) in each order; null if it does not exist. Both are equal if the text is unambiguous. */
  readonly dates: Readonly<Record<DateOrder, string | null>>
  /** `HH:MM:SS`, optionally with a fraction; null for a date alone. */
  readonly time: string | null
  /** `Z` or `±HH:MM`; null if absent. */
  readonly offset: string | null
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const WEEKDAY = '(?:(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? +)?'
const TIME =
  '(?:(?:t|,? +)(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d+))?)?(?: ?([ap])\\.?m\\.?)?(?: ?(z|utc|gmt|[+-]\\d{2}(?::?\\d{2})?))?)?'

/** Patterns with the positions of year, month and day among their groups; `null` if the order decides month and day. */
const FORMS: readonly (readonly [pattern: RegExp, ymd: readonly [number, number, number] | null])[] = [
  [form('(\\d{4})-(\\d{2})-(\\d{2})'), [1, 2, 3]],
  [form('(\\d{4})[./](\\d{1,2})[./](\\d{1,2})'), [1, 2, 3]],
  [form('(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4})'), null],
  [form(`${WEEKDAY}(\\d{1,2})(?:st|nd|rd|th)?[ .-]+${MONTH}[ .,-]+(\\d{4})`), [3, 2, 1]],
  [form(`${WEEKDAY}${MONTH}\\.? +(\\d{1,2})(?:st|nd|rd|th)?,? +(\\d{4})`), [3, 1, 2]],
]

/** The most characters of a date. */
const MAX_LENGTH = 64

const YEAR = /(?<!\d)\d{4}(?!\d)/

/** Parses a date in a common notation, optionally with a time; null for any other text. Years have four digits. */
export function parseForeignMoment(text: string): ForeignMoment | null {
  if (text.length > MAX_LENGTH || !YEAR.test(text)) return null
  for (const [pattern, ymd] of FORMS) {
    const match = pattern.exec(text)
    if (match !== null) return momentOf(match, ymd)
  }
  return null
}

/** Returns the date of a moment; null if it is ambiguous and no order is given. */
export function dateOf({ dates: { dmy, mdy } }: ForeignMoment, order: DateOrder | null): string | null {
  if (dmy === null || mdy === null) return dmy ?? mdy
  if (dmy === mdy) return dmy
  return order === null ? null : order === 'dmy' ? dmy : mdy
}

/** Whether a moment has two possible dates. */
export function isAmbiguous({ dates: { dmy, mdy } }: ForeignMoment): boolean {
  return dmy !== null && mdy !== null && dmy !== mdy
}

/** Matches the beginning of the only notation in which the order decides: most texts need no more. */
const NUMBERS_FIRST = /^\d{1,2}[./-]\d/

/** Whether a text is a moment that has two possible dates. */
export function isAmbiguousMoment(text: string): boolean {
  if (!NUMBERS_FIRST.test(text)) return false
  const moment = parseForeignMoment(text)
  return moment !== null && isAmbiguous(moment)
}

/** Whether a moment has no time, or midnight. */
export function isMidnight({ time }: ForeignMoment): boolean {
  return time === null || /^00:00:00(?:\.0+)?$/.test(time)
}

/**
 * Converts a text to a date or timestamp of a contract, null if it is none or ambiguous. A time without an offset
 * counts as UTC, a date without a time as midnight, and a timestamp at midnight is a date.
 */
export function readMoment(type: 'date' | 'timestamp', text: string, order: DateOrder | null): string | null {
  if (parseMoment(type, text) !== null) return text
  const moment = parseForeignMoment(text)
  const date = moment === null ? null : dateOf(moment, order)
  if (moment === null || date === null) return null
  if (type === 'date') return isMidnight(moment) ? date : null
  return timestampOf(date, moment)
}

function timestampOf(date: string, { time, offset }: Pick<ForeignMoment, 'time' | 'offset'>): string {
  return `${date}T${time ?? '00:00:00'}${offset ?? 'Z'}`
}

function form(date: string): RegExp {
  return new RegExp(`^${date}${TIME}$`, 'i')
}

function momentOf(
  match: RegExpExecArray,
  ymd: readonly [number, number, number] | null,
): ForeignMoment | null {
  const groups = match.slice(0, -6)
  const [hour, minute, second, fraction, half, offset] = match.slice(-6)
  const time = hour === undefined ? null : timeOf({ hour, minute, second, fraction, half })
  const moment = { dates: datesOf(groups, ymd), time, offset: offset === undefined ? null : offsetOf(offset) }
  if (hour !== undefined && time === null) return null
  const date = moment.dates.dmy ?? moment.dates.mdy
  return date === null || parseMoment('timestamp', timestampOf(date, moment)) === null ? null : moment
}

function datesOf(
  groups: readonly string[],
  ymd: readonly [number, number, number] | null,
): ForeignMoment['dates'] {
  if (ymd === null) {
    const [, first = '', , second = '', year = ''] = groups
    return { dmy: validDate(year, second, first), mdy: validDate(year, first, second) }
  }
  const [year = '', month = '', day = ''] = ymd.map((group) => groups[group] ?? '')
  const date = validDate(year, /\d/.test(month) ? month : monthOf(month), day)
  return { dmy: date, mdy: date }
}

function monthOf(name: string): string {
  return String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1)
}

function validDate(year: string, month: string, day: string): string | null {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return parseMoment('date', date) === null ? null : date
}

interface TimeParts {
  readonly hour: string
  readonly minute: string | undefined
  readonly second: string | undefined
  readonly fraction: string | undefined
  /** `a` or `p` of a 12-hour time. */
  readonly half: string | undefined
}

function timeOf({ hour, minute = '00', second = '00', fraction, half }: TimeParts): string | null {
  const hours = half === undefined ? Number(hour) : hoursOf(Number(hour), half.toLowerCase() === 'p')
  if (hours === null) return null
  return `${String(hours).padStart(2, '0')}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`
}

function hoursOf(hour: number, isAfternoon: boolean): number | null {
  if (hour < 1 || hour > 12) return null
  return (hour % 12) + (isAfternoon ? 12 : 0)
}

function offsetOf(offset: string): string {
  if (/^[a-z]/i.test(offset)) return 'Z'
  return `${offset.slice(0, 3)}:${offset.replace(':', '').slice(3) || '00'}`
}
