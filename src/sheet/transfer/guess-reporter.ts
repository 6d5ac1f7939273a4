/** Reports each guess about a file once; some are made only while it is read. */
export class GuessReporter {
  readonly #guesses: () => readonly string[]
  readonly #report: (guess: string) => void
  readonly #reported = new Set<string>()

  constructor(guesses: () => readonly string[], report: (guess: string) => void) {
    this.#guesses = guesses
    this.#report = report
  }

  /** The number of guesses that were reported. */
  get count(): number {
    return this.#reported.size
  }

  /** Reports the guesses that were not reported yet. */
  report(): void {
    for (const guess of this.#guesses()) {
      if (this.#reported.has(guess)) continue
      this.#reported.add(guess)
      this.#report(guess)
    }
  }
}
