/** The time for waits, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since an arbitrary moment; never decreases. */
  now(): number
  /** Calls back once, after at least about this many milliseconds. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.ceil(ms))
    return () => clearTimeout(timer)
  },
}
