/** Lets so many tasks go on at a time; the others wait for their turn. */
export class ConcurrencyLimiter {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Does the task when there is a place; rejects without doing it when it has been aborted by then. */
  async pass<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      const next = this.#waiting.shift()
      // The place goes straight to the next in line.
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
