import { LONGEST_PAUSE_MS } from './backoff.ts'

/** While all are turned away, one is let in this often all the same, to see whether the host still wants that. */
const PROBE_MS = 60_000

/** For how long a host has asked to be left alone. Times are milliseconds of one clock. */
export class Pause {
  #from = -Infinity
  #until = -Infinity
  #status = 0
  #probeAt = -Infinity

  /** The status that the host answered with when it asked. */
  get status(): number {
    return this.#status
  }

  /** Whether the host has never asked, or has come back since. */
  get isOver(): boolean {
    return this.#until === -Infinity
  }

  /** The host asks to be left alone for so long. False if it has asked for no less before. */
  begin(ms: number, status: number, now: number): boolean {
    if (this.#left(now) > 0 && now + ms <= this.#until) return false
    this.#from = now
    this.#until = now + ms
    this.#status = status
    this.#probeAt = now + PROBE_MS
    return true
  }

  /** How long everybody has to wait; 0 while they are turned away instead. */
  wait(now: number): number {
    return this.#isTooLong() ? 0 : this.#left(now)
  }

  /** Whether calls are to be turned away; false as well when the next may be let in to see. */
  turnsAway(now: number): boolean {
    return this.#isClosed(now) && now < this.#probeAt
  }

  /** A try starts. True if it is the one that is to see whether the host is back. */
  letIn(now: number): boolean {
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

  /** What a host has said is forgotten after the longest pause that anybody waits for. */
  #left(now: number): number {
    return Math.max(0, Math.min(this.#until, this.#from + LONGEST_PAUSE_MS) - now)
  }
}
