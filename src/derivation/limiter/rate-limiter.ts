import type { SlotRate } from '../../store/shared-hosts.ts'
import type { RateLimit } from './limit-policy.ts'

/**
 * So much longer than its period is the window in which the limit holds for what goes out, as part of the period and at
 * least in milliseconds: the far end, which packets reach a little earlier or later, then does not count one too many
 * either. How unevenly they travel does not depend on the period, hence the second.
 */
const WINDOW_MARGIN = 0.04
const LEAST_WINDOW_MARGIN_MS = 100

/** Starts are spaced this much further apart than that window needs, as part of the period: play for late timers. */
const PLAY = 0.01

/** What timers that come late may make up for, in milliseconds; far below the margin of the window. */
const CATCH_UP_MS = 25

/**
 * Says when tries may start so that no more than the limit go out in any window of its period: evenly spaced, and never
 * while the limit is used up by what went out within the period or is still to go out. The second matters where
 * connections are made: tries that start evenly can go out together after a slow handshake. Own code, since the known
 * libraries count starts alone, let them come in bursts, or both. Times are milliseconds of one clock.
 */
export class RateLimiter {
  #limit: RateLimit | null = null
  /** The last start. */
  #last = -Infinity
  /** When the next start would be, spaced evenly. */
  #next = -Infinity
  /** Tries that have started and have not gone out. */
  #unsent = 0
  /** When tries went out, oldest first; what lies before index `#oldest` does not count any more. */
  #sent: number[] = []
  #oldest = 0

  /** Sets the limit that holds from now on; null for none. */
  setLimit(limit: RateLimit | null): void {
    if (limit?.calls === this.#limit?.calls && limit?.perMs === this.#limit?.perMs) return
    this.#limit = limit
    this.#next = limit === null ? -Infinity : this.#last + spacing(limit)
  }

  /** How long the next try has to wait; Infinity when that is not known before another has gone out. */
  wait(now: number): number {
    if (this.#limit === null) return 0
    return Math.max(0, this.#next - now, this.#waitForWindow(this.#limit, now))
  }

  /** A try starts. */
  start(now: number): void {
    this.#last = now
    this.#unsent += 1
    if (this.#limit === null) return
    this.#next = Math.max(this.#next, now - CATCH_UP_MS) + spacing(this.#limit)
  }

  /** A try that has started goes out, or is over without; once for each. */
  sent(now: number): void {
    this.#unsent -= 1
    if (this.#limit !== null) this.#sent.push(now)
  }

  #waitForWindow({ calls, perMs }: RateLimit, now: number): number {
    const window = windowMs(perMs)
    while (this.#oldest < this.#sent.length && this.#sentAt(this.#oldest) <= now - window) this.#oldest += 1
    if (this.#oldest > 1000 && this.#oldest * 2 > this.#sent.length) {
      this.#sent = this.#sent.slice(this.#oldest)
      this.#oldest = 0
    }
    if (this.#unsent + this.#sent.length - this.#oldest < calls) return 0
    return this.#sentAt(this.#oldest) + window - now
  }

  #sentAt(index: number): number {
    return this.#sent[index] ?? Infinity
  }
}

/**
 * A limit as moments that processes share. Half of the window's margin is for requests that go out late, and for clocks that do
 * not quite agree; the other half is for the way.
 */
export function slotRate(limit: RateLimit): SlotRate {
  return { spacingMs: spacing(limit), playMs: (windowMs(limit.perMs) - limit.perMs) / 2 }
}

function windowMs(perMs: number): number {
  return perMs + Math.max(perMs * WINDOW_MARGIN, LEAST_WINDOW_MARGIN_MS)
}

function spacing({ calls, perMs }: RateLimit): number {
  return (windowMs(perMs) + perMs * PLAY) / calls
}
