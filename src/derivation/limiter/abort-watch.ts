/**
 * Notifies many waiting calls when one of a few signals aborts. Removing a listener from a signal searches all of its listeners, so that
 * hundreds of calls on one signal cost more for that than for being sent. Here one listener serves them all.
 */
export class AbortWatch {
  readonly #watched = new Map<AbortSignal, Watched>()

  /**
   * Calls `onAbort` when the signal aborts, unless it is removed before ({@link remove}), even from another callback. The signal must not
   * have aborted yet.
   */
  add(signal: AbortSignal, onAbort: () => void): void {
    let watched = this.#watched.get(signal)
    if (watched === undefined) {
      const callbacks = new Set<() => void>()
      const listener = (): void => {
        for (const callback of callbacks) callback()
        this.#watched.delete(signal)
      }
      watched = { callbacks, listener }
      this.#watched.set(signal, watched)
      signal.addEventListener('abort', listener, { once: true })
    }
    watched.callbacks.add(onAbort)
  }

  remove(signal: AbortSignal, onAbort: () => void): void {
    const watched = this.#watched.get(signal)
    if (watched === undefined || !watched.callbacks.delete(onAbort) || watched.callbacks.size > 0) return
    // Also during the callbacks: a listener that is added from now on is too late.
    this.#watched.delete(signal)
    signal.removeEventListener('abort', watched.listener)
  }
}

interface Watched {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}
