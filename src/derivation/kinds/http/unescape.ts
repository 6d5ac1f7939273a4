/** Escapes of one character in JSON and its kin, by code; other characters stand for themselves. */
const BACKSLASHED: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([name, stands]) => [
    name.charCodeAt(0),
    stands.charCodeAt(0),
  ]),
)

const ENTITIES = [
  ['amp;', '&'],
  ['apos;', "'"],
  ['gt;', '>'],
  ['lt;', '<'],
  ['quot;', '"'],
] as const

/**
 * Where an escape ends, and the code point that it stands for; the text goes in and out of it, one escape at a time.
 */
interface Escape {
  end: number
  code: number
}

/**
 * A text with its escapes undone: `%xx`, `\xxx`, `\uxxxx`, `\u{…}`, `\/` and the like, `&#…;` and the entities of
 * XML. What is no escape stays. Percent-encoded bytes come out as characters of Latin-1. Linear in time, and quick
 * also where all is escaped, since the far end decides that.
 */
export function unescape(text: string): string {
  if (!/[%&\\]/.test(text)) return text
  // No escape stands for more than it takes up.
  const units = new Uint16Array(text.length)
  const escape: Escape = { end: 0, code: 0 }
  let length = 0
  for (let index = 0; index < text.length;) {
    const unit = text.charCodeAt(index)
    if (!readEscape(text, index, escape)) {
      units[length++] = unit
      index += 1
      continue
    }
    const { code } = escape
    index = escape.end
    if (code > 0xffff) units[length++] = 0xd7c0 + (code >> 10)
    units[length++] = code > 0xffff ? 0xdc00 + (code & 0x3ff) : code
  }
  return toText(units.subarray(0, length))
}

function readEscape(text: string, index: number, escape: Escape): boolean {
  switch (text.charCodeAt(index)) {
    case 0x25: // %
      return readDigits(text, index + 1, { base: 16, least: 2, most: 2 }, escape)
    case 0x26: // &
      return readEntity(text, index + 1, escape)
    case 0x5c: // \
      return readBackslashed(text, index + 1, escape)
    default:
      return false
  }
}

function readEntity(text: string, index: number, escape: Escape): boolean {
  if (text.charCodeAt(index) === 0x23) {
    const isHex = (text.charCodeAt(index + 1) | 0x20) === 0x78
    const read = isHex
      ? readDigits(text, index + 2, { base: 16, least: 1, most: 6 }, escape)
      : readDigits(text, index + 1, { base: 10, least: 1, most: 7 }, escape)
    if (read && text.charCodeAt(escape.end) === 0x3b) escape.end += 1
    return read
  }
  const first = text.charCodeAt(index)
  for (const [name, stands] of ENTITIES) {
    if (name.charCodeAt(0) !== first || !text.startsWith(name, index)) continue
    escape.end = index + name.length
    escape.code = stands.charCodeAt(0)
    return true
  }
  return false
}

function readBackslashed(text: string, index: number, escape: Escape): boolean {
  if (index === text.length) return false
  const unit = text.charCodeAt(index)
  if (unit === 0x78 && readDigits(text, index + 1, { base: 16, least: 2, most: 2 }, escape)) return true
  if (unit === 0x75 && readDigits(text, index + 1, { base: 16, least: 4, most: 4 }, escape)) return true
  if (unit === 0x75 && text.charCodeAt(index + 1) === 0x7b) {
    const read = readDigits(text, index + 2, { base: 16, least: 1, most: 6 }, escape)
    if (read && text.charCodeAt(escape.end) === 0x7d) escape.end += 1
    if (read) return true
  }
  escape.end = index + 1
  escape.code = BACKSLASHED.get(unit) ?? unit
  return true
}

interface Digits {
  readonly base: 10 | 16
  readonly least: number
  readonly most: number
}

/** Reads a number; false when there are too few digits, or no character has it. */
function readDigits(text: string, index: number, { base, least, most }: Digits, escape: Escape): boolean {
  let code = 0
  let end = index
  for (; end < index + most; end++) {
    const digit = digitOf(text.charCodeAt(end))
    if (digit >= base) break
    code = code * base + digit
  }
  escape.end = end
  escape.code = code
  return end - index >= least && code <= 0x10ffff
}

/** The value of a hexadecimal digit; 16 for any other character. */
function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const letter = (unit | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : 16
}

/** A text without white space, colons and NUL, as base64 and hex are wrapped and UTF-16 is misread. Linear in time. */
export function squeeze(text: string): string {
  if (!/[\s:\0]/.test(text)) return text
  const units = new Uint16Array(text.length)
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const dropped = unit <= 0x20 || unit === 0x3a || unit === 0xa0
    if (!dropped) units[length++] = unit
  }
  return toText(units.subarray(0, length))
}

function toText(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le')
}
