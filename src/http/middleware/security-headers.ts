import type { FastifyReply } from 'fastify'

/**
 * What every answer tells browsers, whatever asked and whatever went wrong:
 *
 * - `Cache-Control`: no shared cache keeps an answer, and no cache shows one again without asking.
 * - `Content-Security-Policy`: answers are data. Opened as a document, one loads and runs nothing, submits nothing and
 *   appears in no frame. A page sets a policy of its own with `reply.header`.
 * - `Cross-Origin-Opener-Policy`, `Cross-Origin-Resource-Policy`: documents of other origins have no handle on a window
 *   of ours, and cannot embed an answer as image, script or object, not even a refusal.
 * - `Referrer-Policy`: addresses with filters and ids in them stay here. It is not `no-referrer`, since with that a
 *   browser sends `Origin: null` with the forms of our own pages, which the origin check refuses (D38).
 * - `X-Content-Type-Options`: JSON is never taken for a script, style sheet or page.
 * - `X-Frame-Options`: as `frame-ancestors`, for older browsers.
 */
export const SECURITY_HEADERS = {
  'cache-control': 'private, no-cache',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

const ENTRIES = Object.entries(SECURITY_HEADERS)

/** The same as lines of an HTTP message, for answers that are written without Fastify. */
export const SECURITY_HEADER_LINES = ENTRIES.map(([name, value]) => `${name}: ${value}\r\n`).join('')

/** Puts {@link SECURITY_HEADERS} on an answer, before anything can refuse the request. */
export function setSecurityHeaders(reply: FastifyReply): void {
  for (const [name, value] of ENTRIES) reply.header(name, value)
}
