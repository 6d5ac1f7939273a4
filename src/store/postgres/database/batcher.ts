interface Waiting<Question, Answer> {
  readonly question: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * Collects the requests made within one turn of the event loop and runs one statement for all of them. So code for many
 * cells can be written as for one cell, and takes no more round trips.
 */
export class Batcher<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #limit: number
  #waiting: Waiting<Question, Answer>[] = []

  /** `answerAll` returns a result for each request, in their order; it receives at most `limit` requests at a time. */
  constructor(
    answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    limit: number = Number.MAX_SAFE_INTEGER,
  ) {
    this.#answerAll = answerAll
    this.#limit = limit
  }

  /** Returns the result; rejects, as do all requests of the same call of `answerAll`, with the error that it throws. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      // Code that the same results resume makes its next requests in microtasks, which all run before this.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const asked = this.#waiting
    this.#waiting = []
    for (let start = 0; start < asked.length; start += this.#limit)
      void this.#answer(asked.slice(start, start + this.#limit))
  }

  async #answer(asked: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#answerAll(asked.map(({ question }) => question))
      asked.forEach(({ resolve }, index) => resolve(answers[index] as Answer))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}
