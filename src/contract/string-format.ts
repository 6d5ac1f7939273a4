import { isIPv4, isIPv6 } from 'node:net'
import { fullFormats } from 'ajv-formats/dist/formats.js'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

type Check = (value: string) => boolean

const CHECKS: Readonly<Record<string, Check>> = {
  email: library('email'),
  hostname: library('hostname'),
  uri: library('uri'),
  uuid: (value) => UUID.test(value),
  ipv4: isIPv4,
  // A zone (`fe80::1%eth0`) means something on one machine only.
  ipv6: (value) => isIPv6(value) && !value.includes('%'),
  byte: (value) => value.length % 4 === 0 && BASE64.test(value),
}

/**
 * The check for a `format` of a string, of those that the standard names: email, uuid, uri, hostname, ipv4, ipv6,
 * byte (base64). Null for `password`, `binary` and unknown formats, which say nothing about the text.
 */
export function stringFormat(name: string): Check | null {
  return Object.hasOwn(CHECKS, name) ? (CHECKS[name] ?? null) : null
}

function library(name: 'email' | 'hostname' | 'uri'): Check {
  const format: unknown = fullFormats[name]
  if (format instanceof RegExp) return (value) => format.test(value)
  if (typeof format === 'function') return format as Check
  throw new Error(`ajv-formats has no ${name}`)
}
