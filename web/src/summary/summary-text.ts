import type { SheetField } from '../api/contract.ts'
import { defaultFormat } from '../values/column-format.ts'
import { formatTimestamp, formatValue } from '../values/format-value.ts'
import { formatCount } from '../ui/format.ts'

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const SCIENTIFIC = new Intl.NumberFormat('en', { notation: 'scientific', maximumSignificantDigits: 3 })

/** The limit of compact notation. */
const GREATEST_SHORT = 1e15
const MIN_SHORT = 1e-3

type SummarizedField = Pick<SheetField, 'name' | 'title' | 'type'>

/** Formats the ends of a histogram briefly: dates only as far as they differ. */
export function shortEnds(
  field: SummarizedField,
  from: number | string,
  to: number | string,
): readonly [string, string] {
  const { type } = field
  const format = defaultFormat(field)
  if (typeof from === 'number' || typeof to === 'number') {
    // Years are short as they are.
    const short = format.grouping === false ? String : shortNumber
    return [short(Number(from)), short(Number(to))]
  }
  const [first, last] = [from, to].map((end) => (type === 'timestamp' ? formatTimestamp(end) : end))
  if (first === undefined || last === undefined || first === last) return [first ?? '', '']
  const isSame = (length: number): boolean => first.slice(0, length) === last.slice(0, length)
  const part = (start: number, end: number): [string, string] => [
    first.slice(start, end),
    last.slice(start, end),
  ]
  if (isSame('2026-03-01 14:05'.length)) return part(11, 19)
  if (isSame('2026-03-01'.length)) return part(11, 16)
  if (isSame('2026-03'.length)) return [monthDay(first), monthDay(last)]
  const years = Number(last.slice(0, 4)) - Number(first.slice(0, 4))
  return years > 1 ? part(0, 4) : part(0, 7)
}

const MONTH_DAY = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

function monthDay(text: string): string {
  return MONTH_DAY.format(Date.parse(`${text.slice(0, 10)}T00:00:00Z`))
}

function shortNumber(place: number): string {
  const size = Math.abs(place)
  const isPlain = size === 0 || (size >= MIN_SHORT && size < GREATEST_SHORT)
  return (isPlain ? SHORT : SCIENTIFIC).format(place).replace('E', 'e')
}

/** Formats an end of a range with the digits that distinguish it from the next. */
export function exactPlace(field: SummarizedField, place: number | string, step: number): string {
  const { type } = field
  if (typeof place === 'string' || type === 'integer') return formatValue(type, place, defaultFormat(field))
  const size = Math.max(Math.abs(place), step)
  if (size >= GREATEST_SHORT || size < MIN_SHORT) return SCIENTIFIC.format(place).replace('E', 'e')
  const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(step))))
  return formatValue('number', Number(place.toFixed(digits)))
}

/** Formats a fraction: `53%`, `0.4%`; 0% and 100% only if exact. */
export function percent(part: number, all: number): string {
  if (part === 0 || all === 0) return '0%'
  if (part === all) return '100%'
  const share = (part / all) * 100
  if (share < 0.1) return '<0.1%'
  if (share > 99.9) return '>99.9%'
  return share < 10 || share > 99 ? `${Math.round(share * 10) / 10}%` : `${Math.round(share)}%`
}

const MAX_LENGTH = 80

/** Shortens a value. */
export function shortened(text: string): string {
  const letters = [...text]
  return letters.length > MAX_LENGTH ? `${letters.slice(0, MAX_LENGTH).join('')}…` : text
}

export function recordsText(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'record' : 'records'}`
}
