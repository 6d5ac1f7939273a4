import { readSync } from 'node:fs'

const CHUNK = 1 << 18
const LINE_FEED = 0x0a

/**
 * The most bytes of a line, so that one without an end does not fill the memory. The longest line of the service contains
 * the previous and the new values of a record, each as large as a request body.
 */
export const MAX_LINE_BYTES = 128 * 1024 * 1024

/** A line of a file, without its line break. */
export interface FileLine {
  readonly bytes: Uint8Array
  /** 1 for the first line read. */
  readonly number: number
  /** The offset of the next line. */
  readonly end: number
  /** False for text after the last line break. */
  readonly whole: boolean
  /** True for a line that is longer than the limit: `bytes` is its start, and no further line is read. */
  readonly tooLong: boolean
}

export interface ReadLinesOptions {
  /** The most bytes of a line. */
  readonly limit?: number | undefined
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined
}

/**
 * Yields the lines of an open file from an offset on, in constant memory. Only a line feed ends a line: JSON text may
 * contain the other line separators of Unicode unescaped. `bytes` is valid until the next iteration. `onBytes` receives the
 * bytes that are read.
 */
export function* readLines(
  fd: number,
  from: number,
  { limit = MAX_LINE_BYTES, onBytes }: ReadLinesOptions = {},
): Generator<FileLine, void> {
  /** The current line in pieces, joined once, since it can have many. */
  let pieces: Uint8Array[] = []
  let length = 0
  let number = 1
  let lineStart = from
  const line = (last: Uint8Array, kind: { whole: boolean; tooLong: boolean }): FileLine => {
    const bytes = pieces.length === 0 ? last : Buffer.concat([...pieces, last])
    return { bytes, number, end: lineStart + bytes.length + Number(kind.whole), ...kind }
  }
  for (let position = from; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const size = readSync(fd, chunk, 0, CHUNK, position)
    if (size === 0) break
    position += size
    const data = chunk.subarray(0, size)
    onBytes?.(data)
    let start = 0
    for (let end = data.indexOf(LINE_FEED); end !== -1; end = data.indexOf(LINE_FEED, start)) {
      const next = line(data.subarray(start, end), { whole: true, tooLong: length + end - start > limit })
      yield next
      if (next.tooLong) return
      start = end + 1
      lineStart = next.end
      number += 1
      pieces = []
      length = 0
    }
    pieces.push(data.subarray(start))
    length += size - start
    if (length > limit) {
      const [first = data] = pieces
      yield { bytes: first, number, end: lineStart + length, whole: false, tooLong: true }
      return
    }
  }
  if (length > 0) yield line(new Uint8Array(), { whole: false, tooLong: false })
}
