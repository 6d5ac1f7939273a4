import { readCache } from '../../rows/read-cache.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { PresentRecords } from '../../revision-store.ts'

/** The most bytes of cached responses. */
const CACHE_BYTES = 16 << 20

export interface CachedRead {
  readonly json: Buffer
  /** The version of a record; empty for a page. */
  readonly version: string
  /** The key after which the next page starts; null for the last page. */
  readonly last: RecordKey | null
}

/** Caches responses of reads for as long as no server changes anything. */
export class CachedReads {
  readonly #cache = readCache<CachedRead>(CACHE_BYTES)
  readonly #present: PresentRecords
  /** The state of the cached responses. */
  #state = ''

  constructor(present: PresentRecords) {
    this.#present = present
  }

  /** Returns the cached response, or that of `read` with the state that it is of; null is not cached. */
  async get(
    key: string,
    read: () => Promise<{ readonly result: CachedRead; readonly state: string } | null>,
  ): Promise<CachedRead | null> {
    // A request that has to read anyway does not query the state.
    if (this.#cache.get(key) !== undefined && (await this.#present.state()) === this.#state) {
      const known = this.#cache.get(key)
      if (known !== undefined) return known
    }
    const found = await read()
    if (found === null) return null
    if (found.state !== this.#state) {
      this.#cache.clear()
      this.#state = found.state
    }
    this.#cache.set(key, found.result)
    return found.result
  }

  clear(): void {
    this.#cache.clear()
  }
}
