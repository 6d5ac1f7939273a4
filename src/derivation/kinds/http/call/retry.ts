import { randomUUID } from 'node:crypto'
import type { TransportRequest } from './transport.ts'

/** Whether an error of this status may pass by itself. */
export function statusMayPass(status: number): boolean {
  return status === 429 || (status >= 500 && status <= 599)
}

/** Who asks for more than a day has not understood the header: it is a point in time as a number, or a typing error. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000

const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** Commas between values, not those after the day of a date. */
const BETWEEN_VALUES = /(?<!^\s*[A-Z][a-z]+|,\s*[A-Z][a-z]+),\s*/

/**
 * What a `Retry-After` header says, seconds or a date (RFC 9110, section 10.2.3), in milliseconds from now; null when
 * it says nothing, or more than a day. Of several values, joined by commas, the longest. `date` is the answer's
 * `Date` header: against it the two clocks need not agree.
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

/** All three forms of RFC 9110, section 5.6.7; only that of asctime does not say that it is GMT. */
function parseHttpDate(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null
  const time = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? null : time
}

/** Methods that may be sent again when it is not known what became of the first (RFC 9110, section 9.2.2). */
export function isIdempotent({ method }: Pick<TransportRequest, 'method'>): boolean {
  return method === 'GET' || method === 'PUT' || method === 'DELETE'
}

const IDEMPOTENCY_KEY = 'Idempotency-Key'

/**
 * The request with a key that lets the far end tell a second try from a second call, unless its method needs none or it
 * has one (draft-ietf-httpapi-idempotency-key-header: a structured field, hence the quotes).
 */
export function withIdempotencyKey(request: TransportRequest): TransportRequest {
  if (isIdempotent(request)) return request
  const names = Object.keys(request.headers).map((name) => name.toLowerCase())
  if (names.includes(IDEMPOTENCY_KEY.toLowerCase())) return request
  return { ...request, headers: { ...request.headers, [IDEMPOTENCY_KEY]: `"${randomUUID()}"` } }
}
