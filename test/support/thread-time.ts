import assert from 'node:assert/strict'
import { parseDocument } from 'yaml'

/** The time within which a hostile file must be refused. */
const BOUND_MS = 250

/** The most that {@link calibrate} takes on the machine that the bound was set on; 65 to 70 ms were measured. */
const CALIBRATION_MS = 75

const TRIES = 8

const PLAIN_LIST = Array.from({ length: 10_000 }, (_, n) => `- value ${n}\n`).join('')

/**
 * Asserts that `run` takes at most 250 ms of this thread's processor time, scaled by the speed of this machine relative to the one on which
 * the bound was set. One of a few tries must pass, since other processes share the machine and its caches.
 */
export function assertQuick(run: () => void, what: string): void {
  const seen: string[] = []
  for (let tries = 0; tries < TRIES; tries += 1) {
    const took = threadMs(run)
    if (took <= BOUND_MS) return
    // Measured right after each try: a machine may be slow for a while. Twice, since the first run is not compiled.
    const calibrated = Math.min(threadMs(calibrate), threadMs(calibrate))
    const slowness = Math.max(1, calibrated / CALIBRATION_MS)
    if (took <= BOUND_MS * slowness) return
    seen.push(`${took} ms, where the machine was ${slowness} times as slow`)
  }
  assert.fail(`${what} took too long each time: ${seen.join('; ')}`)
}

/** Work like that of readers: as many objects, kept as long, so that other load slows both alike. */
function calibrate(): void {
  assert.equal(parseDocument(PLAIN_LIST).errors.length, 0)
}

function threadMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
