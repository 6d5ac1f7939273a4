interface Waiting<Question, Answer> {
  readonly question: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * Has questions that are put in one turn of the event loop answered together, by one statement instead of one each. So
 * what is worked out for many cells can be written as for one, and takes no more round trips than that.
 */
export class Batcher<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #limit: number
  #waiting: Waiting<Question, Answer>[] = []

  /** `answerAll` answers to each question, in their order; it gets at most `limit` of them at a time. */
  constructor(
    answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    limit: number = Number.MAX_SAFE_INTEGER,
  ) {
    this.#answerAll = answerAll
    this.#limit = limit
  }

  /** The answer; rejects, as all of the turn do, with what the statement throws. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      // Whoever is woken by the same answers asks on in microtasks, which all come before this.
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
