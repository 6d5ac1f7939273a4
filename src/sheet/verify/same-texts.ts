import { closeSync, existsSync, openSync } from 'node:fs'
import { basename } from 'node:path'
import { readLines } from '../../provenance/read-lines.ts'
import type { Differences } from './differences.ts'

interface SameTextsOptions {
  readonly differences: Differences
  /**
   * Called with the place after the lines of the store, where the file goes on: others may write meanwhile. Without it that is a
   * difference.
   */
  readonly onRest?: ((offset: number) => void) | undefined
}

/** Yields texts of a store while it compares them with the lines of a file, up to the first that differs. */
export function* sameTexts<T>(
  path: string,
  texts: Iterable<T>,
  { textOf, onRest, differences }: SameTextsOptions & { readonly textOf: (item: T) => string },
): Generator<T> {
  const name = basename(path)
  const fd = existsSync(path) ? openSync(path, 'r') : null
  try {
    const lines = fd === null ? null : readLines(fd, 0)
    let isSame = true
    let [number, offset] = [0, 0]
    const differ = (message: string): void => {
      isSame = false
      differences.file(`${name}: ${message}`)
    }
    for (const item of texts) {
      number += 1
      if (isSame) {
        const line = lines?.next().value ?? null
        if (line === null) differ(fd === null ? 'is missing' : `ends before line ${number} of the store`)
        else if (!Buffer.from(textOf(item)).equals(line.bytes))
          differ(`line ${number} is not the one that the store has`)
        else if (!line.whole) differ(`line ${number} has no line break`)
        else offset = line.end
      }
      yield item
    }
    if (!isSame || lines?.next().done !== false) return
    if (onRest === undefined) differ(`goes on after the ${number} lines of the store`)
    else onRest(offset)
  } finally {
    if (fd !== null) closeSync(fd)
  }
}
