import { LONGEST_PAUSE_MS } from './backoff.ts'

/** Interval at which one call is let through while all others are refused, to see whether the host still wants the pause. */
const PROBE_MS = 60_000

/** The pause that a host has asked for. Times are milliseconds of one clock. */
export class Pause {
  #from = -Infinity
  #until = -Infinity
  #status = 0
  #probeAt = -Infinity

  /** The status with which the host asked for it. */
  get status(): number {
    return this.#status
  }

  /** Whether the host has asked for no pause, or has responded normally since. */
  get isOver(): boolean {
    return this.#until === -Infinity
  }

  /** Begins a pause. False if one that is no shorter was asked for already. */
  begin(ms: number, status: number, now: number): boolean {
    if (this.#left(now) > 0 && now + ms <= this.#until) return false
    this.#from = now
    this.#until = now + ms
    this.#status = status
    this.#probeAt = now + PROBE_MS
    return true
  }

  /** Returns how long all calls have to wait; 0 while they are refused instead. */
  wait(now: number): number {
    return this.#isTooLong() ? 0 : this.#left(now)
  }

  /** Whether calls are refused; false as well when the next one may test the host. */
  refuses(now: number): boolean {
    return this.#isClosed(now) && now < this.#probeAt
  }

  /** Starts a try. True if it is the one that tests the host. */
  startTry(now: number): boolean {
    if (!this.#isClosed(now)) return false
    this.#probeAt = now + PROBE_MS
    return true
  }

  /** Ends the pause. */
  end(): void {
    this.#until = -Infinity
  }

  #isClosed(now: number): boolean {
    return this.#isTooLong() && this.#left(now) > 0
  }

  #isTooLong(): boolean {
    return this.#until - this.#from > LONGEST_PAUSE_MS
  }

  /** The host's request expires after the longest pause that calls wait for. */
  #left(now: number): number {
    return Math.max(0, Math.min(this.#until, this.#from + LONGEST_PAUSE_MS) - now)
  }
}
