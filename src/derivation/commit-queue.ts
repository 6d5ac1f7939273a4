import type { CacheEntry, CellOutcome, CellResult, SheetStore } from '../store/sheet-store.ts'

interface Waiting {
  readonly cells: readonly CellResult[]
  readonly cache: readonly CacheEntry[]
  resolve(outcomes: readonly CellOutcome[]): void
  reject(error: unknown): void
}

/** Brings results to the store: at once when nothing is being stored, otherwise together with others that wait. */
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
