import { setImmediate as nextTurn } from 'node:timers/promises'

/** A query that callers share when they run it at the same time. */
export class CoalescedQuery<T> {
  readonly #query: () => Promise<T>
  #current: Promise<T> | null = null
  #next: Promise<T> | null = null

  constructor(query: () => Promise<T>) {
    this.#query = query
  }

  /**
   * Returns the result of a query sent after this call: when the current one has ended, one query serves all callers that
   * wait.
   */
  run(): Promise<T> {
    return (this.#next ??= this.#runNext())
  }

  async #runNext(): Promise<T> {
    await this.#current?.catch(() => undefined)
    await nextTurn()
    this.#current = this.#next
    this.#next = null
    return this.#query()
  }
}
