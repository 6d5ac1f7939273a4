/** The calls of tools that are under way, so that the sheet is not closed before they end. */
export class CallsUnderWay {
  readonly #calls = new Set<Promise<unknown>>()

  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call)
    try {
      return await call
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Resolves when all calls under way now have ended, with or without an error. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#calls)
  }
}
