import { isIPv4, isIPv6 } from 'node:net'
import { fullFormats } from 'ajv-formats/dist/formats.js'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** A format of strings. */
export interface StringFormat {
  /** The most UTF-16 code units of a text; infinite if the check needs no stack. */
  readonly longest: number
  readonly fits: (value: string) => boolean
}

const FORMATS: Readonly<Record<string, StringFormat>> = {
  // RFC 5321, 4.5.3.1: 64 octets before the @, 255 after it.
  email: { longest: 320, fits: library('email') },
  // RFC 1035, 2.3.4, and a trailing dot.
  hostname: { longest: 254, fits: library('hostname') },
  // A `data:` URI can be long, but some millions of characters overflow the stack of the library's regular expression.
  uri: { longest: 1_000_000, fits: library('uri') },
  uuid: { longest: 36, fits: (value) => UUID.test(value) },
  ipv4: { longest: 15, fits: isIPv4 },
  // The longest ends in an IPv4 address. A zone (`fe80::1%eth0`) has a meaning on one machine only.
  ipv6: { longest: 45, fits: (value) => isIPv6(value) && !value.includes('%') },
  byte: { longest: Infinity, fits: (value) => value.length % 4 === 0 && BASE64.test(value) },
}

/**
 * Returns the check of a string `format` of the standard: email, uuid, uri, hostname, ipv4, ipv6, byte (base64). Null
 * for `password`, `binary` and unknown formats, which do not restrict the text.
 */
export function stringFormat(name: string): StringFormat | null {
  return Object.hasOwn(FORMATS, name) ? (FORMATS[name] ?? null) : null
}

function library(name: 'email' | 'hostname' | 'uri'): StringFormat['fits'] {
  const format: unknown = fullFormats[name]
  if (format instanceof RegExp) return (value) => format.test(value)
  if (typeof format === 'function') return format as StringFormat['fits']
  throw new Error(`ajv-formats has no ${name}`)
}
