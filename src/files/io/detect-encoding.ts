import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'

/** The encoding of a text file. */
export interface DetectedEncoding {
  /** The label in the Encoding Standard. */
  readonly label: string
  /** The reason for a guess; null if the file declares its encoding, and for UTF-8. */
  readonly guess: string | null
}

/** The encoding assumed for files that are not UTF-8: it has all letters of latin-1. */
const WESTERN = 'windows-1252'

/** Bytes without a character in windows-1252. */
const UNUSED_BYTES = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])

/** The number of bytes that are checked for UTF-16 without a byte order mark. */
const LOOK_AHEAD = 4096

/**
 * Detects the encoding of a file: that of its byte order mark, UTF-8 if all of it is valid, UTF-16 if every other
 * byte is zero, else windows-1252. Reads the whole file unless it has a mark. Throws ValidationError naming a line
 * for a file in none of these.
 */
export async function detectEncoding(chunks: AsyncIterable<Buffer>, name: string): Promise<DetectedEncoding> {
  let utf8: Utf8Scan | null = null
  for await (const chunk of chunks) {
    if (utf8 === null) {
      const marked = encodingOfMark(chunk)
      if (marked !== null) return { label: marked, guess: null }
      const wide = encodingOfZeros(chunk.subarray(0, LOOK_AHEAD))
      if (wide !== null) {
        return { label: wide, guess: `read as ${wide.toUpperCase()}, since every other byte is zero` }
      }
      utf8 = new Utf8Scan()
    }
    utf8.add(chunk)
  }
  const fault = utf8?.end() ?? null
  if (fault === null) return { label: 'utf-8', guess: null }
  if (fault.western) {
    const guess = `read as ${WESTERN}, since it is not UTF-8: line ${fault.line} has ${showValue(fault.sample)}`
    return { label: WESTERN, guess }
  }
  throw new ValidationError(
    `${name}:${fault.line}: the file has bytes that are not UTF-8; name its encoding with --encoding, such as windows-1251 or ` +
      'shift_jis, or save it as UTF-8',
    'unknown_encoding',
  )
}

function encodingOfMark(start: Buffer): string | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  return null
}

/** Recognizes UTF-16: western text has a zero in nearly every other byte, always on the same side. */
function encodingOfZeros(start: Buffer): string | null {
  const zeros = [0, 0]
  for (let at = 0; at < start.length; at += 1) if (start[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = start.length / 4
  if (odd > many && even < odd / 10) return 'utf-16le'
  return even > many && odd < even / 10 ? 'utf-16be' : null
}

interface Utf8Error {
  readonly line: number
  /** The word at the error, read as windows-1252. */
  readonly sample: string
  /** Whether the whole file may be windows-1252. */
  readonly western: boolean
}

/** Checks whether bytes that arrive in pieces are UTF-8, and if not, whether they may be windows-1252. */
class Utf8Scan {
  #rest: Buffer = Buffer.alloc(0)
  #lines = 0
  #fault: { readonly line: number; readonly sample: string } | null = null
  /** The number of bytes beyond ASCII since the error, and of those next to another. */
  #high = 0
  #beside = 0
  #unused = false

  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = this.#fault === null ? endOfCharacters(bytes) : bytes.length
    this.#rest = Buffer.from(bytes.subarray(end))
    this.#take(bytes.subarray(0, end))
  }

  end(): Utf8Error | null {
    this.#take(this.#rest)
    if (this.#fault === null) return null
    // In western languages accented letters stand among others; in other scripts they stand together.
    const western = !this.#unused && this.#beside <= this.#high / 2
    return { ...this.#fault, western }
  }

  #take(bytes: Buffer): void {
    if (this.#fault === null) {
      if (isUtf8(bytes)) {
        this.#lines += countLines(bytes, bytes.length)
        return
      }
      const at = firstError(bytes)
      this.#fault = { line: this.#lines + countLines(bytes, at) + 1, sample: wordAt(bytes, at) }
    }
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < 0x80) continue
      this.#high += 1
      if ((bytes[at - 1] ?? 0) >= 0x80 || (bytes[at + 1] ?? 0) >= 0x80) this.#beside += 1
      if (UNUSED_BYTES.has(byte)) this.#unused = true
    }
  }
}

/** Returns the offset after the last character that may be complete. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return lengthOf(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Returns the number of bytes of a character with this first byte. */
function lengthOf(byte: number): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
}

function firstError(bytes: Buffer): number {
  let at = 0
  while (at < bytes.length) {
    const next = at + lengthOf(bytes[at] ?? 0)
    if ((bytes[at] ?? 0) >= 0x80 && !isUtf8(bytes.subarray(at, next))) return at
    at = next
  }
  return 0
}

function countLines(bytes: Buffer, end: number): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1 && at < end; at = bytes.indexOf(10, at + 1)) lines += 1
  return lines
}

/** Returns the word around a byte, delimited by separators of words and cells. */
function wordAt(bytes: Buffer, at: number): string {
  const around = (byte: number | undefined): boolean =>
    byte !== undefined && (byte > 0x7f || /[\w '.-]/.test(String.fromCharCode(byte)))
  let [from, to] = [at, at + 1]
  while (from > 0 && at - from < 20 && around(bytes[from - 1])) from -= 1
  while (to < bytes.length && to - at < 20 && around(bytes[to])) to += 1
  return new TextDecoder(WESTERN).decode(bytes.subarray(from, to)).trim()
}
