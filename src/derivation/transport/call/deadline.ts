/** A timeout that can be paused. */
export class Deadline {
  readonly #onOver: () => void
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | null = null
  #ended = false

  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms
    this.#onOver = onOver
  }

  /** `now`: the time by `performance.now()`, if the caller has it. */
  start(now: number = performance.now()): void {
    if (this.#ended || this.#timer !== null) return
    this.#startedAt = now
    this.#timer = setTimeout(this.#onOver, this.#leftMs)
  }

  stop(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    this.#leftMs -= performance.now() - this.#startedAt
  }

  /** Stops it permanently. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#ended = true
  }
}
