import { closeSync, openSync, readSync } from 'node:fs'

/** Yields the lines of a file, each of which ends with a line break. */
export function* linesOf(path: string): Generator<string> {
  const decoder = new TextDecoder()
  const chunk = Buffer.allocUnsafe(1 << 20)
  const fd = openSync(path, 'r')
  let rest = ''
  for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
    const lines = (rest + decoder.decode(chunk.subarray(0, size), { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  closeSync(fd)
}
