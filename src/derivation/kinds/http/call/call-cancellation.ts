/** A part of a call that ends at once when it is told to. */
export interface Breakable {
  breakOff(reason: unknown): void
}

/**
 * What breaks a call off, whatever part of it is under way; at most one is at a time. Hardly a call needs a signal, which
 * takes time to make and to listen to.
 */
export class BreakOff {
  #isBroken = false
  #reason: unknown
  #part: Breakable | null = null
  #controller: AbortController | null = null

  /** Breaks off; the first reason is the one that counts. */
  now(reason: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#part?.breakOff(reason)
  }

  /** Has this part broken off; null when it is through. It must not begin once the call is broken off. */
  watch(part: Breakable | null): void {
    this.#part = part
  }

  throwIfBroken(): void {
    if (this.#isBroken) throw this.#reason
  }

  /** The same for those who take a signal. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#isBroken) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }
}
