import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'

const JSON_TYPE = 'application/json'

/**
 * Whether a client prefers a media type to JSON (RFC 9110 12.5.1); of two with equal weight, the first wins. No request is refused for its
 * `Accept`: the fallback is JSON.
 */
export function prefers(headers: IncomingHttpHeaders, type: string): boolean {
  const { accept } = headers
  // A shortcut: nearly every client names other types or none, and a wildcard does not select this one.
  if (accept === undefined || !accept.toLowerCase().includes(type)) return false
  return new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, type]) === type
}

const ENCODINGS = ['br', 'gzip', 'identity'] as const

/** An encoding in which responses are compressed. */
export type Encoding = Exclude<(typeof ENCODINGS)[number], 'identity'>

/** Browsers send the same text every time. */
let last: { readonly header: string; readonly encoding: Encoding | null } = { header: '', encoding: null }

/** Returns the encoding that a client prefers (RFC 9110 12.5.3), the first of those with equal weight; null for none. */
export function preferredEncoding(header: string): Encoding | null {
  if (header === last.header) return last.encoding
  const found = new Negotiator({ headers: { 'accept-encoding': header } }).encoding(ENCODINGS)
  last = {
    header,
    encoding: (ENCODINGS.find((one) => one === found && one !== 'identity') as Encoding) ?? null,
  }
  return last.encoding
}
