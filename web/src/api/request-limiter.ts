/** A duration in milliseconds from which a response counts as slow. */
const SLOW_MS = 200

/** Limits concurrent requests, in order of arrival. */
export class RequestLimiter {
  readonly #most: number
  readonly #mostWhenSlow: number
  #running = 0
  #wasSlow = false
  readonly #waiting: (() => void)[] = []

  /** `most` is the maximum number of concurrent requests, and `mostWhenSlow` the maximum after a slow response. */
  constructor(most: number, mostWhenSlow: number) {
    this.#most = most
    this.#mostWhenSlow = mostWhenSlow
  }

  /** Runs `action` when a permit is free. Rejects without running it if aborted before. */
  async run<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#permit(signal)
    const began = performance.now()
    try {
      return await action()
    } finally {
      this.#running -= 1
      this.#wasSlow = performance.now() - began > SLOW_MS
      this.#startNext()
    }
  }

  #permit(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason as Error)
      }
      const begin = (): void => {
        signal.removeEventListener('abort', cancel)
        resolve()
      }
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      signal.addEventListener('abort', cancel, { once: true })
      this.#waiting.push(begin)
      this.#startNext()
    })
  }

  #startNext(): void {
    while (this.#running < (this.#wasSlow ? this.#mostWhenSlow : this.#most)) {
      const begin = this.#waiting.shift()
      if (begin === undefined) return
      this.#running += 1
      begin()
    }
  }
}
