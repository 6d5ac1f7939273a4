import {
  dateOf,
  isAmbiguous,
  isMidnight,
  parseForeignMoment,
  type DateOrder,
} from '../../../src/contract/values/foreign-moment.ts'

export type TemporalType = 'date' | 'timestamp' | 'time'

export const TEMPORAL_EXAMPLES: Readonly<Record<TemporalType, string>> = {
  date: '2024-03-10',
  timestamp: '2024-03-10T14:22:35Z',
  time: '14:22:35',
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/

/** Returns the text in the server's format, or null if it is not of the type. */
export function normalTemporal(type: TemporalType, written: string): string | null {
  const text = written.trim()
  if (type === 'date') return isDate(text) ? text : null
  if (type === 'time') return TIME.test(text) ? text : null
  // Spreadsheets and databases write a space between date and time.
  const match = /^(\S{10})(?:T|\s)(\S+)$/.exec(text)
  const [, day = '', time = ''] = match ?? []
  return isDate(day) && TIME.exec(time)?.[1] !== undefined ? `${day}T${time}` : null
}

/** The order of day and month in the language of the browser. */
export const LOCAL_ORDER: DateOrder = orderOf(new Intl.DateTimeFormat().formatToParts())

function orderOf(parts: readonly Intl.DateTimeFormatPart[]): DateOrder {
  const place = (type: string): number => parts.findIndex((part) => part.type === type)
  return place('month') < place('day') ? 'mdy' : 'dmy'
}

/** `2:30 pm`, `9:05`. */
const CLOCK = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?$/i

/**
 * Reads a date, time or timestamp in a common notation; null for any other text. `order` is that of day and month where
 * a date could have either. A timestamp without an offset is in local time, as the grid shows it.
 */
export function readTemporal(type: TemporalType, written: string, order: DateOrder): string | null {
  const text = written.trim()
  const normal = normalTemporal(type, text)
  if (normal !== null) return normal
  if (type === 'time') return readClock(text)
  const moment = parseForeignMoment(text)
  const date = moment === null ? null : dateOf(moment, order)
  if (moment === null || date === null) return null
  if (type === 'date') return isMidnight(moment) ? date : null
  const { time, offset } = moment
  const local = `${date}T${time ?? '00:00:00'}`
  return local + (offset ?? offsetText(-new Date(local.slice(0, 19)).getTimezoneOffset()))
}

/** Whether a text is a date in which day and month could be exchanged. */
export function hasEitherOrder(text: string): boolean {
  const moment = parseForeignMoment(text.trim())
  return moment !== null && isAmbiguous(moment)
}

/** Returns the order that a date must have because it has no month beyond 12; null if it can have both. */
export function dateOrderOf(text: string): DateOrder | null {
  const { dmy = null, mdy = null } = parseForeignMoment(text.trim())?.dates ?? {}
  if (dmy === mdy || (dmy !== null && mdy !== null)) return null
  return dmy === null ? 'mdy' : 'dmy'
}

function readClock(text: string): string | null {
  const [, hour, minute, second = '00', half] = CLOCK.exec(text) ?? []
  if (hour === undefined || (minute === undefined && half === undefined)) return null
  const hours = Number(hour)
  if (half !== undefined && (hours < 1 || hours > 12)) return null
  const shift = half?.toLowerCase() === 'p' ? 12 : 0
  const full = half === undefined ? hours : (hours % 12) + shift
  return normalTemporal('time', `${String(full).padStart(2, '0')}:${minute ?? '00'}:${second}`)
}

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(`${text}T00:00:00Z`)
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

/** Returns the value for a native picker; empty if it has none. */
export function toPicker(type: TemporalType, text: string): string {
  const normal = normalTemporal(type, text)
  if (normal === null) return ''
  if (type === 'date') return normal
  if (type === 'time') return normal.slice(0, 8).replace(/[Z+-].*$/, '')
  const moment = new Date(normal)
  if (Number.isNaN(moment.getTime())) return ''
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** Converts a picked value; a timestamp gets the local UTC offset at that time. */
export function fromPicker(type: TemporalType, picked: string): string {
  if (type !== 'timestamp' || picked === '') return picked
  const withSeconds = picked.length === 16 ? `${picked}:00` : picked
  return withSeconds + offsetText(-new Date(withSeconds).getTimezoneOffset())
}

/**
 * Returns a timestamp in local time with its UTC offset, to be edited: `2024-03-10 15:22:35+01:00`. Fractions of seconds
 * are kept. A text that is no timestamp is returned unchanged.
 */
export function localTimestamp(text: string): string {
  const moment = new Date(text)
  const [, fraction = ''] = /:\d{2}:\d{2}(\.\d+)/.exec(text) ?? []
  if (Number.isNaN(moment.getTime())) return text
  const offset = -moment.getTimezoneOffset()
  const local = new Date(moment.getTime() + offset * 60_000).toISOString()
  // Years beyond four digits are written in another form.
  if (local.length > 24) return text
  return `${local.slice(0, 19).replace('T', ' ')}${fraction}${offsetText(offset)}`
}

export function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'))
  return `${minutes < 0 ? '-' : '+'}${hours}:${rest}`
}
