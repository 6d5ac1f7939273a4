const BASE_MS = 500

const CAP_MS = 30_000

/** The longest pause, in milliseconds, that calls wait for. */
export const LONGEST_PAUSE_MS = 3_600_000

/** Returns the wait after a failed try, in milliseconds; `tries` counts those before it. Exponential, with full jitter. */
export function backoffMs(tries: number, random: () => number): number {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** tries)
}
