import { canAsk, confirm, type Answer } from './confirm.ts'

/** Asks whether guesses that were shown are right; without a terminal they count as right. */
export class GuessQuestion {
  readonly #question: string
  readonly #asks: boolean
  #answer: Answer = 'yes'

  /** Accepts guesses without a question when `ask` is false. */
  constructor(question: string, ask: boolean) {
    this.#question = question
    this.#asks = ask && canAsk()
  }

  /** Whether a question will be asked. */
  get asks(): boolean {
    return this.#asks
  }

  /** Whether the answer was Ctrl-C. */
  get interrupted(): boolean {
    return this.#answer === 'interrupted'
  }

  async isRight(): Promise<boolean> {
    if (this.#asks) this.#answer = await confirm(this.#question)
    return this.#answer === 'yes'
  }
}

/** Returns a guess as a message. */
export function guessText(guess: string): string {
  return `Guessed: ${guess}`
}
