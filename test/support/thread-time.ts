import assert from 'node:assert/strict'

/** What the issue asks for: a hostile file is refused within this time. */
const BOUND_MS = 250

/** What {@link calibrate} takes at most on a machine such as the bound was set on; 12 to 20 ms were seen. */
const CALIBRATION_MS = 20

const TRIES = 5

/**
 * Asserts that `run` takes at most 250 ms of this thread's processor, or as much more as this machine is slower than the
 * one on which that was set. The best of a few tries counts: others share the machine, and its caches.
 */
export function assertQuick(run: () => void, what: string): void {
  const best = bestOf(run, BOUND_MS)
  if (best <= BOUND_MS) return
  // Measured now, not once: a machine may be slow for a while.
  const slowness = Math.max(1, bestOf(calibrate, CALIBRATION_MS) / CALIBRATION_MS)
  assert.ok(best <= BOUND_MS * slowness, `${what} took ${best} ms, on a machine ${slowness} times as slow`)
}

/** The least time of a few tries; the first that is within the bound is enough. */
function bestOf(run: () => void, boundMs: number): number {
  let best = Infinity
  for (let tries = 0; tries < TRIES && best > boundMs; tries += 1) best = Math.min(best, threadMs(run))
  return best
}

/** Work such as readers do: objects, maps and texts. */
function calibrate(): void {
  const parts = Array.from({ length: 40_000 }, (_, at) => ({ key: `k${at % 997}`, at }))
  const sums = new Map<string, number>()
  for (const { key, at } of parts) sums.set(key, (sums.get(key) ?? 0) + at)
  const words = parts.map(({ key }) => key).join(' ')
  assert.equal(words.split(' ').length, parts.length)
}

function threadMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
