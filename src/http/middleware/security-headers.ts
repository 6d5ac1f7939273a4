import type { FastifyReply } from 'fastify'

/**
 * Security headers of every response, errors included:
 * - `Cache-Control`: no shared cache stores a response, and no cache reuses one without revalidation.
 * - `Content-Security-Policy`: responses are data. Opened as a document, a response loads and runs nothing, submits nothing and appears in
 *   no frame. A page sets a policy of its own with `reply.header`.
 * - `Cross-Origin-Opener-Policy`, `Cross-Origin-Resource-Policy`: documents of other origins have no reference to a window of the service,
 *   and cannot embed a response as image, script or object, not even a refusal.
 * - `Referrer-Policy`: addresses with filters and ids in them are not sent elsewhere. It is not `no-referrer`, since browsers then send
 *   `Origin: null` with forms of the service's own pages, which the origin check refuses (D38).
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

/** {@link SECURITY_HEADERS} as lines of an HTTP message, for responses that are written without Fastify. */
export const SECURITY_HEADER_LINES = ENTRIES.map(([name, value]) => `${name}: ${value}\r\n`).join('')

/** Sets {@link SECURITY_HEADERS} on a response, before anything can refuse the request. */
export function setSecurityHeaders(reply: FastifyReply): void {
  for (const [name, value] of ENTRIES) reply.header(name, value)
}
