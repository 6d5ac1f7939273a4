import { randomUUID } from 'node:crypto'
import type { TransportRequest } from './transport.ts'

/** Whether an error of this status may be temporary. */
export function statusMayPass(status: number): boolean {
  return status === 429 || (status >= 500 && status <= 599)
}

/** A wait of more than a day is an error of the host: a point in time as a number, or a typing error. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000

const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** Matches commas between values, not those after the weekday of a date. */
const BETWEEN_VALUES = /(?<!^\s*[A-Z][a-z]+|,\s*[A-Z][a-z]+),\s*/

/**
 * Reads a `Retry-After` header, seconds or a date (RFC 9110, section 10.2.3), in milliseconds from now; null if it is malformed, or more
 * than a day. Of several values, joined by commas, the longest. `date` is the response's `Date` header: relative to it, the two clocks may
 * differ.
 */
export function retryAfterMs(header: string | undefined, date: string | undefined): number | null {
  let longest: number | null = null
  for (const value of (header ?? '').split(BETWEEN_VALUES)) {
    const ms = valueMs(value, date)
    if (ms !== null && ms <= LONGEST_RETRY_AFTER_MS) longest = Math.max(ms, longest ?? 0)
  }
  return longest
}

function valueMs(header: string, date: string | undefined): number | null {
  if (/^\d+(?:\.\d+)?$/.test(header)) return Number(header) * 1000
  const until = parseHttpDate(header)
  if (until === null) return null
  return Math.max(0, until - ((date === undefined ? null : parseHttpDate(date)) ?? Date.now()))
}

/** Reads all three forms of RFC 9110, section 5.6.7; only that of asctime does not name GMT. */
function parseHttpDate(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null
  const time = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? null : time
}

/** Whether a method may be sent again although the outcome of the first request is unknown (RFC 9110, section 9.2.2). */
export function isIdempotent({ method }: Pick<TransportRequest, 'method'>): boolean {
  return method === 'GET' || method === 'PUT' || method === 'DELETE'
}

const IDEMPOTENCY_KEY = 'Idempotency-Key'

/**
 * Adds a key by which the host can distinguish a second try from a second call, unless the method needs none or the request has one
 * (draft-ietf-httpapi-idempotency-key-header: a structured field, hence the quotes).
 */
export function withIdempotencyKey(request: TransportRequest): TransportRequest {
  if (isIdempotent(request)) return request
  const names = Object.keys(request.headers).map((name) => name.toLowerCase())
  if (names.includes(IDEMPOTENCY_KEY.toLowerCase())) return request
  return { ...request, headers: { ...request.headers, [IDEMPOTENCY_KEY]: `"${randomUUID()}"` } }
}
