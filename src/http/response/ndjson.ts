import { setImmediate as nextTurn } from 'node:timers/promises'

/** Newline-delimited JSON: one value on each line, each line ended. */
export const NDJSON_CONTENT_TYPE = 'application/x-ndjson'

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a]

/** Kinds of bytes outside strings. */
const [OTHER, OPEN, CLOSE, SPACE] = [0, 1, 2, 3]
const KINDS = new Uint8Array(256)
for (const byte of Buffer.from('[{')) KINDS[byte] = OPEN
for (const byte of Buffer.from(']}')) KINDS[byte] = CLOSE
for (const byte of Buffer.from(' \t\r\n')) KINDS[byte] = SPACE

/** Bytes that are converted before other requests are served. */
const BYTES_AT_ONCE = 1 << 20

/**
 * Converts a JSON array, given as text in UTF-8, into lines with one item each. The text of a value is kept, so that no digit of a number
 * is lost; only white space between its parts is removed. The text must be valid JSON.
 */
export async function toNdjson(array: Uint8Array): Promise<Buffer> {
  const lines = Buffer.allocUnsafe(array.length)
  const writer = new LineWriter(lines)
  for (let start = 0; start < array.length; start += BYTES_AT_ONCE) {
    if (start > 0) await nextTurn()
    writer.write(array.subarray(start, start + BYTES_AT_ONCE))
  }
  return writer.finish()
}

class LineWriter {
  readonly #lines: Buffer
  #length = 0
  #depth = 0
  #inString = false
  #isEscaped = false

  constructor(lines: Buffer) {
    this.#lines = lines
  }

  write(bytes: Uint8Array): void {
    const lines = this.#lines
    let [length, depth, inString, isEscaped] = [this.#length, this.#depth, this.#inString, this.#isEscaped]
    for (const byte of bytes) {
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
        lines[length++] = byte
        continue
      }
      const kind = KINDS[byte] ?? OTHER
      if (kind === SPACE) continue
      if (kind === CLOSE) depth--
      // The brackets of the array itself are left out, which frees a byte for the end of the last line.
      const outermost = depth === 0
      if (kind === OPEN) depth++
      if (outermost) continue
      inString = byte === QUOTE
      lines[length++] = byte === COMMA && depth === 1 ? NEWLINE : byte
    }
    this.#length = length
    this.#depth = depth
    this.#inString = inString
    this.#isEscaped = isEscaped
  }

  finish(): Buffer {
    if (this.#length > 0) this.#lines[this.#length++] = NEWLINE
    return this.#lines.subarray(0, this.#length)
  }
}
