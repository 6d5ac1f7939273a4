import { lstatSync, statSync, type BigIntStats } from 'node:fs'

/** What changed less than this before it was looked at may change again without its time telling. */
const RACY_MS = 50

/**
 * What tells whether a file or folder is another than before, for a few microseconds. Follows links: a link that
 * leads elsewhere is another file.
 */
export class FileStamp {
  readonly #path: string
  #stamp = ''
  #racy = true

  constructor(path: string) {
    this.#path = path
  }

  /** Whether it may be another than when this was last asked; true the first time. */
  mayDiffer(): boolean {
    const { stamp, changedMs } = stampOf(this.#path)
    if (stamp === this.#stamp && !this.#racy) return false
    this.#stamp = stamp
    this.#racy = Date.now() - changedMs < RACY_MS
    return true
  }

  /** Has the next question answered with yes, whatever the file system says. */
  lookAgain(): void {
    this.#racy = true
  }
}

function stampOf(path: string): { readonly stamp: string; readonly changedMs: number } {
  const stats = statsOf(path)
  if (typeof stats === 'string') return { stamp: stats, changedMs: 0 }
  return {
    stamp: `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`,
    changedMs: Number(stats.ctimeMs),
  }
}

/** What cannot be asked, as with links in a circle, is told apart by its code. */
function statsOf(path: string): BigIntStats | string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats !== undefined) return stats
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? 'none' : 'a link that leads nowhere'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}
