/** Things under way side by side, started by one who waits for room. */
export class UnderWay {
  readonly #limit: number
  #count = 0
  #wake: () => void = () => undefined

  /** `limit`: how many at a time. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Resolves when one more may start. */
  async room(): Promise<void> {
    while (this.#count >= this.#limit) await this.#change()
  }

  /** Resolves when nothing is under way. */
  async none(): Promise<void> {
    while (this.#count > 0) await this.#change()
  }

  /** One more has started, which counts as so many. */
  begin(weight = 1): void {
    this.#count += weight
  }

  /** One that had started with this weight is over. */
  end(weight = 1): void {
    this.#count -= weight
    this.#wake()
  }

  get isFull(): boolean {
    return this.#count >= this.#limit
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
