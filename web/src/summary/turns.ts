/** The maximum number of concurrent requests while responses are fast. */
const MOST = 3
/** The duration in milliseconds from which a response counts as slow. */
const SLOW_MS = 200

/**
 * Limits concurrent requests in order of arrival; one at a time after a slow response, so that summaries do not delay
 * records.
 */
export class Turns {
  #running = 0
  #wasSlow = false
  readonly #waiting: (() => void)[] = []

  /** Runs `action` when a permit is free. Rejects without running it if aborted before. */
  async take<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(signal)
    const began = performance.now()
    try {
      return await action()
    } finally {
      this.#running -= 1
      this.#wasSlow = performance.now() - began > SLOW_MS
      this.#advance()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason as Error)
      }
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(begin)
      this.#advance()
    })
  }

  #advance(): void {
    while (this.#running < (this.#wasSlow ? 1 : MOST)) {
      const begin = this.#waiting.shift()
      if (begin === undefined) return
      this.#running += 1
      begin()
    }
  }
}
