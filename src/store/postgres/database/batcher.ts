interface Waiting<Request, Result> {
  readonly request: Request
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Collects the requests made within one turn of the event loop and runs one statement for all of them. So code for many
 * cells can be written as for one cell, and takes no more round trips.
 */
export class Batcher<Request, Result> {
  readonly #runAll: (requests: readonly Request[]) => Promise<readonly Result[]>
  readonly #limit: number
  #waiting: Waiting<Request, Result>[] = []

  /** `runAll` returns a result for each request, in their order; it receives at most `limit` requests at a time. */
  constructor(
    runAll: (requests: readonly Request[]) => Promise<readonly Result[]>,
    limit: number = Number.MAX_SAFE_INTEGER,
  ) {
    this.#runAll = runAll
    this.#limit = limit
  }

  /** Returns the result; rejects, as do all requests of the same call of `runAll`, with the error that it throws. */
  run(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      // Code that the same results resume makes its next requests in microtasks, which all run before this.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let start = 0; start < waiting.length; start += this.#limit)
      void this.#runBatch(waiting.slice(start, start + this.#limit))
  }

  async #runBatch(batch: readonly Waiting<Request, Result>[]): Promise<void> {
    try {
      const results = await this.#runAll(batch.map(({ request }) => request))
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
