import { readSync } from 'node:fs'

const CHUNK = 1 << 18
const LINE_FEED = 0x0a

/** A line of a file, without its line break. */
export interface FileLine {
  readonly bytes: Uint8Array
  /** 1 for the first line read. */
  readonly number: number
  /** Where the next line starts. */
  readonly end: number
  /** False for what stands behind the last line break. */
  readonly whole: boolean
}

/**
 * The lines of an open file from an offset on, in flat memory. Only a line feed ends a line: JSON text may hold the
 * other line separators of Unicode as they are. `bytes` is good until the next line is asked for.
 */
export function* readLines(fd: number, from: number): Generator<FileLine, void> {
  let rest: Uint8Array = new Uint8Array()
  let number = 0
  let lineStart = from
  for (let position = from; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const size = readSync(fd, chunk, 0, CHUNK, position)
    if (size === 0) break
    position += size
    const data = Buffer.concat([rest, chunk.subarray(0, size)])
    let start = 0
    for (let end = data.indexOf(LINE_FEED, rest.length); end !== -1; end = data.indexOf(LINE_FEED, start)) {
      number += 1
      lineStart += end + 1 - start
      yield { bytes: data.subarray(start, end), number, end: lineStart, whole: true }
      start = end + 1
    }
    rest = data.subarray(start)
  }
  if (rest.length > 0) yield { bytes: rest, number: number + 1, end: lineStart + rest.length, whole: false }
}
