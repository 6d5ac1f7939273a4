/** A part of a call that can be cancelled at once. */
export interface Breakable {
  breakOff(reason: unknown): void
}

/**
 * Cancels a call, whatever part of it is under way; at most one is at a time. Few calls need a signal, which takes time to create and to
 * listen to.
 */
export class BreakOff {
  #isBroken = false
  #reason: unknown
  #part: Breakable | null = null
  #controller: AbortController | null = null

  /** Cancels the call; the first reason counts. */
  now(reason: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#part?.breakOff(reason)
  }

  /** Sets the part to cancel; null once it has ended. It must not begin once the call is cancelled. */
  watch(part: Breakable | null): void {
    this.#part = part
  }

  throwIfBroken(): void {
    if (this.#isBroken) throw this.#reason
  }

  /** Returns a signal for code that takes one. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#isBroken) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }
}
