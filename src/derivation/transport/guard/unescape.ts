/** One-character escapes of JSON and similar notations, by code; other characters stand for themselves. */
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
  ['nbsp;', '\u00a0'],
  ['quot;', '"'],
  ['shy;', '\u00ad'],
  ['zwj;', '\u200d'],
  ['zwnj;', '\u200c'],
  ['ZeroWidthSpace;', '\u200b'],
] as const

/** The end of an escape, and its code point; one object is reused for all escapes. */
interface Escape {
  end: number
  code: number
}

/**
 * Decodes the escapes of a text: `%xx`, `\xxx`, `\uxxxx`, `\u{…}`, `\/` and the like, `&#…;`, the entities of XML, and those of HTML for
 * invisible characters. Other text is unchanged. Percent-encoded bytes become characters of Latin-1. Takes linear time, and little of it
 * even if everything is escaped, since the host decides that.
 */
export function unescape(text: string): string {
  if (!/[%&\\]/.test(text)) return text
  // No escape decodes to more than its own length.
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

/** Reads a number; false if there are too few digits, or it is no character. */
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

/** Returns the value of a hexadecimal digit; 16 for any other character. */
function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const letter = (unit | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : 16
}

/**
 * Code units that are invisible in a text, or that wrap base64 and hex and occur in misread UTF-16: controls, white space, colons, and
 * characters that Unicode marks as ignorable, such as the zero-width space and the soft hyphen.
 */
const UNSEEN = /[\0-\x20:\s\p{Cf}\p{Default_Ignorable_Code_Point}]/u

/** {@link UNSEEN} as a table, created at its first use: most commands search for no secret. */
let isUnseen: Uint8Array | null = null

/** A text of ASCII, and the {@link UNSEEN} characters in it. */
const ASCII = /^[\0-\x7f]*$/
const UNSEEN_ASCII = /[\0-\x20:]+/g

/** Removes the {@link UNSEEN} characters of a text, including those of UTF-8 that was read as Latin-1. Takes linear time. */
export function squeeze(text: string): string {
  // The usual case, in a third of the time.
  if (ASCII.test(text)) return text.replaceAll(UNSEEN_ASCII, '')
  let index = 0
  while (index < text.length && lengthOfUnseen(text, index) === 0) index += 1
  if (index === text.length) return text
  const units = new Uint16Array(text.length)
  for (let kept = 0; kept < index; kept += 1) units[kept] = text.charCodeAt(kept)
  let length = index
  while (index < text.length) {
    const unseen = lengthOfUnseen(text, index)
    if (unseen === 0) units[length++] = text.charCodeAt(index)
    index += unseen === 0 ? 1 : unseen
  }
  return toText(units.subarray(0, length))
}

/** Returns the number of code units of the character at an index if it is invisible, else 0. */
function lengthOfUnseen(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  isUnseen ??= Uint8Array.from({ length: 0x10000 }, (_, each) =>
    UNSEEN.test(String.fromCharCode(each)) ? 1 : 0,
  )
  if (isUnseen[unit] === 1) return 1
  switch (unit) {
    case 0xdb40: // The first of the tags and further variation selectors.
      return 2
    case 0xc2:
    case 0xe2:
    case 0xef:
      return lengthInLatin1(text, index)
    default:
      return 0
  }
}

/** Does the same for UTF-8 that was read as Latin-1, in any case of its letters. */
function lengthInLatin1(text: string, index: number): number {
  LATIN_1.lastIndex = index
  return LATIN_1.exec(text)?.[0].length ?? 0
}

/** The soft hyphen, the zero-width and directional characters, invisible operators, and the byte order mark. */
const LATIN_1 = /[\xc2\xe2]\xad|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf/y

function toText(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le')
}
