/** The rate is that of so much time past. */
const WINDOW_MS = 6000
/** Less time says nothing yet: what needs no call is settled at once, as the run begins. */
const LEAST_MS = 2000

/** How fast a count grows, over the last seconds. */
export class RateMeter {
  #samples: { readonly at: number; readonly done: number }[] = []

  /** `at` in milliseconds. A count that has gone back begins anew. */
  add(done: number, at: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && done < last.done) this.#samples = []
    this.#samples.push({ at, done })
    // The last sample before the window stays, as its beginning.
    const begin = this.#samples.findLastIndex((sample) => sample.at <= at - WINDOW_MS)
    if (begin > 0) this.#samples.splice(0, begin)
  }

  /** By the second; null while it cannot be told. */
  get perSecond(): number | null {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.at - first.at < LEAST_MS) return null
    return ((last.done - first.done) * 1000) / (last.at - first.at)
  }
}

/** Seconds until all is done; null while that cannot be told. */
export function secondsLeft(
  { done, total }: { readonly done: number; readonly total: number },
  perSecond: number | null,
): number | null {
  return perSecond === null || perSecond <= 0 ? null : Math.max(0, total - done) / perSecond
}
