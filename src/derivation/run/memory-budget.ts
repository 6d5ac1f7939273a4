/** Memory for what is read to be computed from, until that is stored. */
export class MemoryBudget {
  readonly #bytes: number
  #taken = 0
  #waiting: (() => void)[] = []

  /** `bytes`: how much may be taken at a time. Something larger has it to itself. */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Resolves when there is room for so many bytes, which are taken then. */
  async take(bytes: number): Promise<void> {
    while (this.#taken > 0 && this.#taken + bytes > this.#bytes) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#taken += bytes
  }

  /** Gives bytes back that were taken. */
  giveBack(bytes: number): void {
    this.#taken -= bytes
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}
