/** Time for those who wait, so that tests need not. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number
  /** Calls back once, after at least about so many milliseconds. Answers with what calls that off. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.ceil(ms))
    return () => clearTimeout(timer)
  },
}
