/** Newline-delimited JSON: one value on each line, each line ended. */
export const NDJSON_CONTENT_TYPE = 'application/x-ndjson'

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a]
const OPEN = new Set(Buffer.from('[{'))
const CLOSE = new Set(Buffer.from(']}'))
const SPACE = new Set(Buffer.from(' \t\r\n'))

/**
 * The items of a JSON array, given as text in UTF-8, one on each line. The text of a value stays as it is, so that no
 * digit of a number is lost; only white space between its parts goes. The text must be JSON.
 */
export function toNdjson(array: Uint8Array): Buffer {
  const lines = Buffer.allocUnsafe(array.length)
  let length = 0
  let depth = 0
  for (let index = 0; index < array.length; index++) {
    let byte = array[index] ?? 0
    if (SPACE.has(byte)) continue
    if (byte === QUOTE) {
      const end = endOfString(array, index)
      lines.set(array.subarray(index, end), length)
      length += end - index
      index = end - 1
      continue
    }
    if (CLOSE.has(byte)) depth--
    // The brackets of the array itself are left out, which leaves room for the end of the last line.
    const outermost = depth === 0
    if (OPEN.has(byte)) depth++
    if (outermost) continue
    if (byte === COMMA && depth === 1) byte = NEWLINE
    lines[length++] = byte
  }
  if (length > 0) lines[length++] = NEWLINE
  return lines.subarray(0, length)
}

/** The index after the closing quote of the string that starts at `start`. */
function endOfString(text: Uint8Array, start: number): number {
  let index = start + 1
  while (text[index] !== QUOTE) index += text[index] === BACKSLASH ? 2 : 1
  return index + 1
}
