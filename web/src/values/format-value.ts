import type { FieldType } from '../api/contract.ts'
import type { ColumnFormat } from './column-format.ts'

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const TIMESTAMP = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** Formats a value as a cell shows it; `type` is null if unknown. Null gives an empty text. */
export function formatValue(type: FieldType | null, value: unknown, format: ColumnFormat = {}): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return formatNumber(value, format)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'string') {
    if (type !== 'timestamp') return value
    return format.utc === true ? formatUtc(value).replace(/(?:\.000)? UTC$/, '') : formatTimestamp(value)
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return value.map((item) => formatValue(null, item)).join(', ')
  }
  return JSON.stringify(value)
}

/** Groups digits in threes and keeps all decimals, unless the format says otherwise. */
function formatNumber(value: number, { decimals, grouping = true }: ColumnFormat): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  const isFixed = decimals !== undefined && size < GREATEST_FIXED
  const plain = isFixed ? value.toFixed(decimals) : String(value)
  if (!grouping) return plain
  if (plain.includes('e')) return plain
  if (plain.length < 4) return plain
  const [whole = '', fraction] = plain.split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const grouped = sign + WHOLE.format(BigInt(whole.replace('-', '')))
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** From here on, `toFixed` has exponents too. */
const GREATEST_FIXED = 1e21

/** The time zone in which timestamps are shown: `Europe/Berlin`. */
export const { timeZone: TIME_ZONE } = TIMESTAMP.resolvedOptions()

/** Formats a timestamp in local time: `2026-03-01 14:05:09`. */
export function formatTimestamp(text: string): string {
  const moment = new Date(text)
  return Number.isNaN(moment.getTime()) ? text : TIMESTAMP.format(moment).replace(', ', ' ')
}

/** Formats a timestamp in UTC, for the tooltip. */
export function formatUtc(text: string): string {
  const moment = new Date(text)
  return Number.isNaN(moment.getTime())
    ? text
    : `${moment.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}
