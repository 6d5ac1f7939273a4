/** So many at once while answers come quickly. */
const MOST = 3
/** An answer that takes longer than this, in milliseconds, shows that the sheet is a large one. */
const SLOW_MS = 200

/**
 * Lets a few requests go at a time, in the order in which they came; on a large sheet one by one, so that the records
 * do not wait for the pictures above them.
 */
export class Turns {
  #running = 0
  #wasSlow = false
  readonly #waiting: (() => void)[] = []

  /** Runs `action` when it is its turn. One that is given up while it waits never runs, and rejects. */
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
