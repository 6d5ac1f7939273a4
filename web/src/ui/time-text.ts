const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The age from which a time is shown as a date. */
const RELATIVE_FOR = 7 * DAY
/** The tolerated difference between the clocks of two machines. */
const CLOCKS_DIFFER = MINUTE

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const LOCAL = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})

/** Formats a relative time: `3 minutes ago`, `yesterday`; after a week or in the future, `on 3 Mar 2026`. */
export function relativeTime(at: string, now: number): string {
  const moment = Date.parse(at)
  if (Number.isNaN(moment)) return at
  const ago = now - moment
  if (ago < -CLOCKS_DIFFER || ago >= RELATIVE_FOR) return `on ${DATE.format(moment)}`
  if (ago < 10 * SECOND) return 'just now'
  if (ago < MINUTE) return RELATIVE.format(-Math.floor(ago / SECOND), 'second')
  if (ago < HOUR) return RELATIVE.format(-Math.floor(ago / MINUTE), 'minute')
  if (ago < DAY) return RELATIVE.format(-Math.floor(ago / HOUR), 'hour')
  return RELATIVE.format(-Math.floor(ago / DAY), 'day')
}

/** Formats a time in local time and in UTC, on a line each. */
export function exactTime(at: string): string {
  const moment = new Date(at)
  if (Number.isNaN(moment.getTime())) return at
  return `${LOCAL.format(moment)}\n${moment.toISOString().replace('T', ' ').replace('Z', ' UTC')}`
}
