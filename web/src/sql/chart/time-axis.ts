/** `2026`, `2026-03`, `2026-03-01`, optionally with a time; without an offset it is UTC, as in SQLite. */
const TIME = /^(\d{4})(-\d\d)?(-\d\d)?([T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/

/** Parses a time to milliseconds since 1970; null for other values. */
export function timeOf(value: unknown): number | null {
  if (typeof value !== 'string') return null
  const parts = TIME.exec(value)
  if (parts === null) return null
  const [, year = '', month = '-01', day = '-01', clock, offset] = parts
  if (clock === undefined && offset !== undefined) return null
  const text = `${year}${month}${day}${clock === undefined ? 'T00:00' : clock.replace(' ', 'T')}${offset ?? 'Z'}`
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

export interface TimeTick {
  readonly at: number
  readonly label: string
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Steps of constant length with the format of their ticks. */
const STEPS: readonly (readonly [ms: number, format: Intl.DateTimeFormat])[] = (() => {
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const hour = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' })
  return [
    [MINUTE, clock],
    [5 * MINUTE, clock],
    [15 * MINUTE, clock],
    [HOUR, clock],
    [3 * HOUR, hour],
    [6 * HOUR, hour],
    [12 * HOUR, hour],
    [DAY, day],
    [2 * DAY, day],
    [7 * DAY, day],
    [14 * DAY, day],
  ]
})()

const MONTH = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'short', year: 'numeric' })
/** In months. */
const LONG_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12_000]

/** Returns at most `most` round ticks between two times, in UTC. */
export function timeTicks(from: number, to: number, most: number): readonly TimeTick[] {
  for (const [ms, format] of STEPS) {
    const first = Math.ceil(from / ms) * ms
    const count = Math.floor((to - first) / ms) + 1
    if (count <= most) return Array.from({ length: count }, (_, n) => tick(first + n * ms, format))
  }
  for (const months of LONG_STEPS) {
    const found = monthTicks(from, to, months, most)
    if (found !== null) return found
  }
  return []
}

function tick(at: number, format: Intl.DateTimeFormat): TimeTick {
  return { at, label: format.format(at) }
}

/** Returns null for more than `most` ticks. */
function monthTicks(from: number, to: number, months: number, most: number): readonly TimeTick[] | null {
  const start = new Date(from)
  const monthsBefore = start.getUTCFullYear() * 12 + start.getUTCMonth()
  const ticks: TimeTick[] = []
  for (let month = Math.floor(monthsBefore / months) * months; ; month += months) {
    const at = startOfMonth(month)
    if (at > to) return ticks
    if (at < from) continue
    if (ticks.length === most) return null
    ticks.push(months % 12 === 0 ? { at, label: String(new Date(at).getUTCFullYear()) } : tick(at, MONTH))
  }
}

/** Not by Date.UTC, which reads the year 99 as 1999. */
function startOfMonth(months: number): number {
  return new Date(0).setUTCFullYear(Math.floor(months / 12), months % 12, 1)
}
