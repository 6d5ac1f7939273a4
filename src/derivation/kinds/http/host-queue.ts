import { err, ok } from '../../../errors/result.ts'
import type { Result } from '../../../errors/result.ts'
import { DEFAULT_HOST_POLICY } from '../../host-policies.ts'
import type { HostPolicy } from '../../host-policies.ts'
import type { Clock } from './clock.ts'
import { RateLimiter } from './rate-limiter.ts'
import { LONGEST_PAUSE_MS } from './retry.ts'

/** Where a call stands in line for its next try. */
export interface Place {
  /** Calls come in this order, also when they have to come again. */
  readonly order: number
  /** Not to be let in before this time of the clock. */
  readonly notBefore: number
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** Leave to start a try. */
export interface Turn {
  /** The request goes out. */
  sent(): void
  /** The try is over. */
  end(): void
}

interface Waiting extends Omit<Place, 'signal'> {
  settle(turn: Result<Turn, number>): void
}

function nothing(): void {}

/**
 * The line before one host: lets tries in while concurrency, rate and the host itself allow. Calls that wait, be it for
 * their turn or to be tried again, take up none of the concurrency.
 */
export class HostQueue {
  readonly #clock: Clock
  readonly #limiter = new RateLimiter()
  /** By `order`. */
  readonly #waiting: Waiting[] = []
  #policy = DEFAULT_HOST_POLICY
  #underWay = 0
  /** The host wants to be left alone until then, and said so with this status. */
  #pause = { until: -Infinity, status: 0 }
  #closed = false
  #callOffWake = nothing

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sets the policy that holds from now on, also for those who wait. */
  adopt(policy: HostPolicy): void {
    if (policy === this.#policy) return
    this.#policy = policy
    this.#limiter.setLimit(policy.rateLimit)
    this.#admit()
  }

  /**
   * Waits for a turn. Comes to nothing but the host's status while it wants to be left alone for longer than anybody
   * waits. Rejects with the signal's reason.
   */
  turn({ order, notBefore, signal }: Place): Promise<Result<Turn, number>> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
        this.#admit()
      }
      const settle = (turn: Result<Turn, number>): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(turn)
      }
      const waiting: Waiting = { order, notBefore, settle }
      signal.addEventListener('abort', onAbort, { once: true })
      const before = this.#waiting.findLastIndex((other) => other.order < order)
      this.#waiting.splice(before + 1, 0, waiting)
      this.#admit()
    })
  }

  /** The host has said with this status that it wants to be left alone for so long; matters where calls are retried. */
  pause(ms: number, status: number): void {
    const until = this.#clock.now() + ms
    if (until <= this.#pause.until) return
    this.#pause = { until, status }
    this.#admit()
  }

  /** Lets everybody in at once, now and later: for when there is nothing behind the line any more. */
  close(): void {
    this.#closed = true
    this.#admit()
  }

  /** Lets in whoever may come, and sees to it that this is called again when the next one may. */
  #admit(): void {
    this.#callOffWake()
    this.#callOffWake = nothing
    while (this.#waiting.length > 0) {
      const now = this.#clock.now()
      const paused = this.#pausedFor(now)
      if (paused > LONGEST_PAUSE_MS) return this.#turnAway()
      const next = this.#closed ? 0 : this.#waiting.findIndex(({ notBefore }) => notBefore <= now)
      const wait = this.#closed
        ? 0
        : Math.max(paused, this.#limiter.wait(now), next === -1 ? this.#untilNext(now) : 0)
      if (wait === 0 && !this.#isFull()) this.#letIn(next, now)
      else return this.#wakeAfter(wait)
    }
  }

  #pausedFor(now: number): number {
    return this.#policy.retries > 0 && !this.#closed ? Math.max(0, this.#pause.until - now) : 0
  }

  #isFull(): boolean {
    return this.#underWay >= this.#policy.concurrency && !this.#closed
  }

  /** Until somebody may come of those who all have to wait. */
  #untilNext(now: number): number {
    return this.#waiting.reduce((least, { notBefore }) => Math.min(least, notBefore - now), Infinity)
  }

  #turnAway(): void {
    for (const { settle } of this.#waiting.splice(0)) settle(err(this.#pause.status))
  }

  /** When all places are taken, or it is not known yet when, the end or the sending of another try wakes. */
  #wakeAfter(ms: number): void {
    if (ms > 0 && ms < Infinity && !this.#isFull())
      this.#callOffWake = this.#clock.after(ms, () => this.#admit())
  }

  #letIn(index: number, now: number): void {
    const [waiting] = this.#waiting.splice(index, 1)
    this.#underWay += 1
    this.#limiter.start(now)
    let sent = false
    const noteSent = (): void => {
      if (sent) return
      sent = true
      this.#limiter.sent(this.#clock.now())
      this.#admit()
    }
    const end = (): void => {
      this.#underWay -= 1
      noteSent()
      this.#admit()
    }
    waiting?.settle(ok({ sent: noteSent, end }))
  }
}
