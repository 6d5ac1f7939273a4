import { lstatSync, statSync, type BigIntStats } from 'node:fs'

/** The age, in milliseconds, below which a file may change again without its times showing it. */
const RACY_MS = 50

/**
 * Detects changes of a file or folder by its times and size, in a few microseconds. Follows links: a link to another
 * file is a change.
 */
export class FileStamp {
  readonly #path: string
  #stamp = ''
  #racy = true

  constructor(path: string) {
    this.#path = path
  }

  /** Whether it may have changed since the last call; true the first time. */
  mayDiffer(): boolean {
    const { stamp, changedMs } = stampOf(this.#path)
    if (stamp === this.#stamp && !this.#racy) return false
    this.#stamp = stamp
    this.#racy = Date.now() - changedMs < RACY_MS
    return true
  }

  /** Makes the next {@link mayDiffer} return true. */
  invalidate(): void {
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

/**
 * Returns the times and size; for a path that cannot be read, such as links in a circle, the error code stands for
 * them.
 */
function statsOf(path: string): BigIntStats | string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats !== undefined) return stats
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? 'none' : 'a link that leads nowhere'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}
