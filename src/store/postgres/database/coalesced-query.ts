/** A query that callers share when they ask at the same time. */
export class SharedQuestion<T> {
  readonly #put: () => Promise<T>
  #asked: Promise<T> | null = null
  #next: Promise<T> | null = null

  constructor(put: () => Promise<T>) {
    this.#put = put
  }

  /** Returns the result of a query sent after this call: once the query under way has ended, one query serves all callers that wait. */
  ask(): Promise<T> {
    return (this.#next ??= this.#ask())
  }

  async #ask(): Promise<T> {
    await this.#asked?.catch(() => undefined)
    this.#asked = this.#next
    this.#next = null
    return this.#put()
  }
}
