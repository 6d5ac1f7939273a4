/** Tells each guess about a file once: some are made only while it is read. */
export class GuessReporter {
  readonly #guesses: () => readonly string[]
  readonly #tell: (guess: string) => void
  readonly #told = new Set<string>()

  constructor(guesses: () => readonly string[], tell: (guess: string) => void) {
    this.#guesses = guesses
    this.#tell = tell
  }

  /** How many were told. */
  get count(): number {
    return this.#told.size
  }

  /** Tells the guesses that were not told yet. */
  tell(): void {
    for (const guess of this.#guesses()) {
      if (this.#told.has(guess)) continue
      this.#told.add(guess)
      this.#tell(guess)
    }
  }
}
