import { closeSync, existsSync, openSync } from 'node:fs'
import { basename } from 'node:path'
import { readLines } from '../../provenance/read-lines.ts'
import type { Differences } from './differences.ts'

interface SameTextsOptions {
  /** Whether the file may have more lines, as that of a store into which others write meanwhile. */
  readonly mayBeLonger: boolean
  readonly differences: Differences
}

/** Yields texts of a store while it compares them with the lines of a file, up to the first that differs. */
export function* sameTexts<T>(
  path: string,
  texts: Iterable<T>,
  { textOf, mayBeLonger, differences }: SameTextsOptions & { readonly textOf: (item: T) => string },
): Generator<T> {
  const name = basename(path)
  const fd = existsSync(path) ? openSync(path, 'r') : null
  try {
    const lines = fd === null ? null : readLines(fd, 0)
    let isSame = true
    let number = 0
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
      }
      yield item
    }
    if (isSame && !mayBeLonger && lines?.next().done === false)
      differ(`goes on after the ${number} lines of the store`)
  } finally {
    if (fd !== null) closeSync(fd)
  }
}
