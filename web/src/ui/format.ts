const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats a whole number: `1,398`. */
export function formatCount(count: number): string {
  return WHOLE.format(count)
}

/** Formats a count with its noun: `1 call`, `1,398 calls`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** The smallest amount with digits. */
const MIN_DOLLARS = 0.000_001

/** Formats dollars, small amounts to two significant digits: `$0.0035`, `$0.14`, `$12.50`, `$1,250`. */
export function formatMoney(dollars: number): string {
  if (dollars < 0) return `−${formatMoney(-dollars)}`
  if (dollars === 0) return '$0'
  if (dollars < MIN_DOLLARS) return '< $0.000001'
  if (dollars >= 999.995) return `$${WHOLE.format(dollars)}`
  // Two significant digits, but at least cents: 0.0035 to 4 decimals, 0.14 to 2.
  const digits = Math.max(2, 1 - Math.floor(Math.log10(dollars)))
  const [whole = '0', fraction = ''] = dollars.toFixed(digits).split('.')
  return `$${whole}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')}`
}

/** Formats a duration: `340 ms`, `3.2 s`, `42 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`
  const tenths = Math.round(ms / 100) / 10
  if (tenths < 10) return `${tenths} s`
  const seconds = Math.round(ms / SECOND) * SECOND
  if (seconds < MINUTE) return `${seconds / SECOND} s`
  if (seconds < HOUR) return inTwo(seconds, MINUTE, 'min', SECOND, 's')
  const minutes = Math.round(ms / MINUTE) * MINUTE
  if (minutes < DAY) return inTwo(minutes, HOUR, 'h', MINUTE, 'min')
  return inTwo(Math.round(ms / HOUR) * HOUR, DAY, 'd', HOUR, 'h')
}

function inTwo(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.round((ms % big) / small)
  return `${Math.floor(ms / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

/** Formats a rate: `1,200 cells/s`, `4.2 cells/s`, `12 cells/min`. */
export function formatRate(perSecond: number, many: string): string {
  if (perSecond >= 10) return `${WHOLE.format(perSecond)} ${many}/s`
  if (perSecond >= 0.95) return `${Math.round(perSecond * 10) / 10} ${many}/s`
  return `${WHOLE.format(perSecond * 60)} ${many}/min`
}

/** Formats a remaining time with the precision of an estimate: `< 5 s`, `25 s`, `4 min`, `2 h 10 min`. */
export function formatTimeLeft(seconds: number): string {
  if (seconds < 4) return '< 5 s'
  if (seconds < 57.5) return `${Math.max(5, Math.round(seconds / 5) * 5)} s`
  if (seconds < 59.5 * 60) return `${Math.max(1, Math.round(seconds / 60))} min`
  return formatDuration(Math.round(seconds / 600) * 10 * MINUTE)
}
