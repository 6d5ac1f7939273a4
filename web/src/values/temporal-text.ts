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
