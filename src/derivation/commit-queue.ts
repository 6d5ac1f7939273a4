import { setTimeout as delay } from 'node:timers/promises'
import type { CacheEntry, CellOutcome, CellResult, SheetStore } from '../store/sheet-store.ts'

interface Waiting {
  readonly cells: readonly CellResult[]
  readonly cache: readonly CacheEntry[]
  resolve(outcomes: readonly CellOutcome[]): void
  reject(error: unknown): void
}

/** So many results make a commit worth its sync to the disk. */
const WORTHWHILE = 32

/** How long fewer results than that wait for others. */
const LINGER_MS = 2

/**
 * Brings results to the store in groups: a sync to the disk costs more than storing a result, so a few milliseconds'
 * worth of results share one. Results are stored as a run goes all the same (D30).
 */
export class CommitQueue {
  readonly #store: Pick<SheetStore, 'commitCells'>
  readonly #actor: string
  #waiting: Waiting[] = []
  #storing = false

  constructor(store: Pick<SheetStore, 'commitCells'>, actor: string) {
    this.#store = store
    this.#actor = actor
  }

  /** Resolves when the results are durable, with what became of each cell. */
  add(cells: readonly CellResult[], cache: readonly CacheEntry[]): Promise<readonly CellOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ cells, cache, resolve, reject })
      if (!this.#storing) void this.#storeAll()
    })
  }

  async #storeAll(): Promise<void> {
    this.#storing = true
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < WORTHWHILE) await delay(LINGER_MS)
      const group = this.#waiting
      this.#waiting = []
      await this.#storeGroup(group)
    }
    this.#storing = false
  }

  async #storeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#store.commitCells({
        actor: this.#actor,
        cells: group.flatMap(({ cells }) => cells),
        cache: group.flatMap(({ cache }) => cache),
      })
      let start = 0
      for (const { cells, resolve } of group) {
        resolve(outcomes.slice(start, start + cells.length))
        start += cells.length
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}
