/**
 * Tells many who wait on few signals when these abort. A signal goes through all of its listeners to take another, so that
 * hundreds of calls that wait on one cost more for that than for being sent: here one listener serves them all.
 */
export class AbortWatch {
  readonly #watched = new Map<AbortSignal, Watched>()

  /** Calls back when the signal aborts, unless {@link remove} comes first, be it in another's call. The signal must not have aborted yet. */
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
    // In the course of the calls, too: who waits on the signal from now on comes too late.
    this.#watched.delete(signal)
    signal.removeEventListener('abort', watched.listener)
  }
}

interface Watched {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}
