import type { JsonValue } from '../../contract/json/json.ts'
import type { RateLimit } from '../limiter/limit-policy.ts'
import type { HostPolicy } from './host-policies.ts'

/** A key that a host can have in `transport.yaml`. */
export interface HostSetting {
  readonly key: string
  /** The allowed values, for messages and the reference. */
  readonly allowed: string
  /** Converts a value to settings; null if it is not allowed. */
  read(value: JsonValue): Partial<HostPolicy> | null
}

/** Higher limits would have no effect in this program. */
const MOST_CALLS = 1_000_000

const LONGEST_TIMEOUT_MS = 600_000

/** Sums of higher costs could lose small amounts. */
const HIGHEST_COST = 1_000_000

/** All keys that a host can have. */
export const HOST_SETTINGS: readonly HostSetting[] = [
  {
    key: 'concurrency',
    allowed: 'a whole number from 1 to 256',
    read: (value) => (isWhole(value, 1, 256) ? { concurrency: value } : null),
  },
  {
    key: 'rate_limit',
    allowed: 'calls per s, min or h, such as 10/s, 600/min or 1000/h, with a whole number from 1 to 1000000',
    read(value) {
      const rateLimit = parseRate(value)
      return rateLimit === null ? null : { rateLimit }
    },
  },
  {
    key: 'retries',
    allowed: 'a whole number from 0 to 10',
    read: (value) => (isWhole(value, 0, 10) ? { retries: value } : null),
  },
  {
    key: 'timeout',
    allowed: 'seconds, or a time such as 500ms, 30s or 2min; from 1ms to 10min',
    read(value) {
      const timeoutMs = parseTime(value)
      return timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT_MS ? { timeoutMs } : null
    },
  },
  {
    key: 'cost_per_call',
    allowed: 'dollars, a number from 0 to 1000000',
    read: (value) =>
      typeof value === 'number' && value >= 0 && value <= HIGHEST_COST ? { costPerCall: value } : null,
  },
]

function isWhole(value: JsonValue, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : ''
}

const PERIODS_MS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 }

function parseRate(value: JsonValue): RateLimit | null {
  const [, digits = '', period = ''] = /^(\d+)\/(s|min|h)$/.exec(textOf(value)) ?? []
  const perMs = PERIODS_MS[period]
  const calls = Number(digits)
  return perMs !== undefined && isWhole(calls, 1, MOST_CALLS) ? { calls, perMs } : null
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 }

/** Returns whole milliseconds; NaN for an invalid time. */
function parseTime(value: JsonValue): number {
  if (typeof value === 'number') return Math.round(value * 1000)
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|min)$/.exec(textOf(value)) ?? []
  return Math.round(Number(digits) * (UNITS_MS[unit] ?? Number.NaN))
}
