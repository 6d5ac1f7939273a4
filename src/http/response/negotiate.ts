import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'

const JSON_TYPE = 'application/json'

/**
 * Whether a client would rather have a media type than JSON (RFC 9110 12.5.1); of two that it likes as much, the one
 * that it names first. Nothing is refused for its `Accept`: who wants neither gets JSON.
 */
export function prefers(headers: IncomingHttpHeaders, type: string): boolean {
  const { accept } = headers
  // Nearly every client names others, or none; and nobody gets it for a wildcard.
  if (accept === undefined || !accept.toLowerCase().includes(type)) return false
  return new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, type]) === type
}

const ENCODINGS = ['br', 'gzip', 'identity'] as const

/** An encoding that answers are compressed in. */
export type Encoding = Exclude<(typeof ENCODINGS)[number], 'identity'>

/** Browsers send the same text every time. */
let last: { readonly header: string; readonly encoding: Encoding | null } = { header: '', encoding: null }

/** The encoding that a client likes best (RFC 9110 12.5.3), of those that it likes as much the first; null for none. */
export function preferredEncoding(header: string): Encoding | null {
  if (header === last.header) return last.encoding
  const found = new Negotiator({ headers: { 'accept-encoding': header } }).encoding(ENCODINGS)
  last = {
    header,
    encoding: (ENCODINGS.find((one) => one === found && one !== 'identity') as Encoding) ?? null,
  }
  return last.encoding
}
