import type { SlotRate } from '../../store/shared-hosts.ts'
import type { RateLimit } from './limit-policy.ts'

/**
 * The margin by which the window is longer than the period in which the limit holds for sent requests: a part of the period, and a minimum
 * in milliseconds. With it the host, which packets reach a little earlier or later, does not count one too many either. The variation of
 * the travel time does not depend on the period, hence the minimum.
 */
const WINDOW_MARGIN = 0.04
const LEAST_WINDOW_MARGIN_MS = 100

/** The part of the period by which starts are spaced further apart than that window needs, to allow for late timers. */
const PLAY = 0.01

/** The most that is made up for late timers, in milliseconds; far below the margin of the window. */
const CATCH_UP_MS = 25

/**
 * Decides when tries may start so that no more than the limit are sent in any window of its period: evenly spaced, and never while the
 * limit is used up by tries that were sent within the period or are still to be sent. The latter matters where connections are made: tries
 * that start evenly can be sent together after a slow handshake. Own code, since the known libraries count starts alone, allow bursts, or
 * both. Times are milliseconds of one clock.
 */
export class RateLimiter {
  #limit: RateLimit | null = null
  /** The time of the last start. */
  #last = -Infinity
  /** The time of the next start with even spacing. */
  #next = -Infinity
  /** Tries that have started and are not yet sent. */
  #unsent = 0
  /** The times at which tries were sent, oldest first; those before index `#oldest` no longer count. */
  #sent: number[] = []
  #oldest = 0

  /** Sets the limit from now on; null for none. */
  setLimit(limit: RateLimit | null): void {
    if (limit?.calls === this.#limit?.calls && limit?.perMs === this.#limit?.perMs) return
    this.#limit = limit
    this.#next = limit === null ? -Infinity : this.#last + spacing(limit)
  }

  /** Returns how long the next try has to wait; Infinity if that depends on another one being sent. */
  wait(now: number): number {
    if (this.#limit === null) return 0
    return Math.max(0, this.#next - now, this.#waitForWindow(this.#limit, now))
  }

  /** Records that a try starts. */
  start(now: number): void {
    this.#last = now
    this.#unsent += 1
    if (this.#limit === null) return
    this.#next = Math.max(this.#next, now - CATCH_UP_MS) + spacing(this.#limit)
  }

  /** Records that a started try is sent, or has ended without; once for each. */
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
 * Converts a limit to slots that processes share. Half of the window's margin is for requests that are sent late, and for clocks that
 * differ; the other half is for the travel time.
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
