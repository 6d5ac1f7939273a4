/** The time over which the rate is measured: long enough for several rounds of slow calls. */
const WINDOW_MS = 20_000
/** The minimum time of a measurement. */
const MIN_MS = 2000
/** The start of a run is not measured: cells that need no call complete at once. */
const START_MS = 2000

/** Measures how fast a count grows. */
export class RateMeter {
  #samples: { readonly at: number; readonly done: number }[] = []
  #startedAt: number | null = null

  /** Adds a sample; `at` is in milliseconds. A smaller count restarts the measurement. */
  add(done: number, at: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && done < last.done) {
      this.#samples = []
      this.#startedAt = null
    }
    this.#startedAt ??= at
    // The last sample of the start is where the measurement begins.
    if (at - this.#startedAt <= START_MS) this.#samples = []
    this.#samples.push({ at, done })
    // Keeps the last sample before the window as its start.
    const begin = this.#samples.findLastIndex((sample) => sample.at <= at - WINDOW_MS)
    if (begin > 0) this.#samples.splice(0, begin)
  }

  /** The rate per second; null until known. */
  get perSecond(): number | null {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.at - first.at < MIN_MS) return null
    return ((last.done - first.done) * 1000) / (last.at - first.at)
  }
}

/** Returns the remaining seconds; null if unknown. */
export function secondsLeft(
  { done, total }: { readonly done: number; readonly total: number },
  perSecond: number | null,
): number | null {
  return perSecond === null || perSecond <= 0 ? null : Math.max(0, total - done) / perSecond
}
