/** Limits how many tasks run at a time; others wait in order. */
export class ConcurrencyLimiter {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Runs the task when a permit is free; rejects without running it if aborted before. */
  async pass<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      const next = this.#waiting.shift()
      // A waiting task takes over the permit.
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
