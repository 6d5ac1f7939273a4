import { err, ok } from '../../errors/result.ts'
import type { Result } from '../../errors/result.ts'
import type { HostLimits, HostListener, HostShare } from '../../store/shared-hosts.ts'
import { DEFAULT_LIMITS, type LimitPolicy } from './limit-policy.ts'
import type { Clock } from './clock.ts'
import { AbortWatch } from './abort-watch.ts'
import { UNSHARED } from './unshared.ts'
import { Pause } from './pause.ts'
import { RateLimiter, slotRate } from './rate-limiter.ts'

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
  /**
   * The request goes out; again for each that `another` gave leave for. False when its moment is over, since its connection
   * was so long in coming: then it must not, but wait for another.
   */
  sent(): boolean
  /** Waits for a place in the rate for one more request of the same try. Rejects with the signal's reason. */
  another(signal: AbortSignal): Promise<void>
  /** The host has answered with a success. */
  succeeded(): void
  /** The try is over. */
  end(): void
}

interface Waiting extends Omit<Place, 'signal'> {
  settle(turn: Result<Turn, number>): void
}

/** Somebody let in who waits for a place in the rate; is told what to call when the request goes out. */
type WaitingHop = (noteSent: () => boolean) => void

function nothing(): void {}

/**
 * The line before one host: lets tries in while concurrency, rate and the host itself allow. Calls that wait, be it for
 * their turn or to be tried again, take up none of the concurrency. Where processes share the host, they let in as many and as
 * fast together: each takes of that what its share has.
 */
export class ResourceQueue {
  readonly #clock: Clock
  readonly #limiter = new RateLimiter()
  readonly #share: HostShare
  /** By `order`. */
  readonly #waiting: Waiting[] = []
  /** In the order of their coming; before all that have not been let in. */
  readonly #hops: WaitingHop[] = []
  readonly #pause = new Pause()
  readonly #aborts = new AbortWatch()
  #policy = DEFAULT_LIMITS
  #underWay = 0
  #closed = false
  #callOffWake = nothing

  /** `join` takes part where processes share the host. */
  constructor(clock: Clock, join: (listener: HostListener) => HostShare = () => UNSHARED) {
    this.#clock = clock
    this.#share = join({
      waiting: () => this.#ready(),
      requests: () => this.#hops.length + this.#ready(),
      onChange: () => this.#admit(),
      onPause: ({ askedMs, leftMs, status }) => {
        if (this.#pause.begin(askedMs, status, clock.now() - (askedMs - leftMs))) this.#admit()
      },
      onPauseEnd: () => {
        this.#pause.end()
        this.#admit()
      },
    })
    this.#share.setLimits(limitsOf(this.#policy))
  }

  /** Sets the policy that holds from now on, also for those who wait. */
  adopt(policy: LimitPolicy): void {
    if (policy === this.#policy) return
    this.#policy = policy
    this.#limiter.setLimit(policy.rateLimit)
    this.#share.setLimits(limitsOf(policy))
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
        this.#aborts.remove(signal, onAbort)
        resolve(turn)
      }
      const waiting: Waiting = { order, notBefore, settle }
      this.#aborts.add(signal, onAbort)
      const before = this.#waiting.findLastIndex((other) => other.order < order)
      this.#waiting.splice(before + 1, 0, waiting)
      this.#admit()
    })
  }

  /** The host has said with this status that it wants to be left alone for so long; matters where calls are retried. */
  pause(ms: number, status: number): void {
    this.#share.pause(ms, status)
    if (this.#pause.begin(ms, status, this.#clock.now())) this.#admit()
  }

  /** Lets everybody in at once, now and later: for when there is nothing behind the line any more. */
  close(): void {
    this.#closed = true
    this.#share.leave()
    this.#admit()
  }

  /** Lets in whoever may come, and sees to it that this is called again when the next one may. */
  #admit(): void {
    this.#callOffWake()
    this.#callOffWake = nothing
    // As a rule all places are taken, and nobody waits for anything else: the end of a try calls again.
    const isFull = !this.#closed && this.#underWay >= this.#policy.concurrency
    if (isFull && this.#hops.length === 0 && this.#pause.isOver) return
    while (this.#hops.length + this.#waiting.length > 0) {
      const now = this.#clock.now()
      if (this.#heedsPause() && this.#pause.turnsAway(now)) this.#turnAway()
      const limited = this.#closed ? 0 : this.#limiter.wait(now)
      if (this.#hops.length > 0) {
        const wait = Math.max(limited, this.#slotWait())
        if (wait > 0) return this.#wakeAfter(wait)
        this.#hops.shift()?.(this.#allowRequest(now))
      } else if (this.#waiting.length > 0) {
        const next = this.#closed ? 0 : this.#waiting.findIndex(({ notBefore }) => notBefore <= now)
        const paused = this.#heedsPause() ? this.#pause.wait(now) : 0
        const delay = Math.max(paused, next === -1 ? this.#untilNext(now) : 0)
        // The end of another try wakes, or the share.
        if (this.#isFull(delay)) return
        const wait = Math.max(delay, limited, delay > 0 ? 0 : this.#slotWait())
        if (wait > 0) return this.#wakeAfter(wait)
        this.#letIn(next, now)
      }
    }
  }

  #heedsPause(): boolean {
    return this.#policy.retries > 0 && !this.#closed
  }

  /** Nobody needs a place of the share who has to wait for something else. */
  #isFull(delay: number): boolean {
    if (this.#closed) return false
    return this.#underWay >= this.#policy.concurrency || (delay === 0 && !this.#share.hasPlace())
  }

  #slotWait(): number {
    return this.#closed ? 0 : this.#share.slotWait()
  }

  /** How many could begin, were there room. */
  #ready(): number {
    const now = this.#clock.now()
    if (this.#heedsPause() && this.#pause.wait(now) > 0) return 0
    return this.#waiting.reduce((count, { notBefore }) => (notBefore <= now ? count + 1 : count), 0)
  }

  /** Until somebody may come of those who all have to wait. */
  #untilNext(now: number): number {
    return this.#waiting.reduce((least, { notBefore }) => Math.min(least, notBefore - now), Infinity)
  }

  #turnAway(): void {
    for (const { settle } of this.#waiting.splice(0)) settle(err(this.#pause.status))
  }

  /** When it is not known yet when, the sending of another request wakes. */
  #wakeAfter(ms: number): void {
    if (ms < Infinity) this.#callOffWake = this.#clock.after(ms, () => this.#admit())
  }

  #letIn(index: number, now: number): void {
    // The first as a rule, and then the others need not be moved up.
    const waiting = index === 0 ? this.#waiting.shift() : this.#waiting.splice(index, 1)[0]
    this.#underWay += 1
    this.#share.begin()
    const isProbe = this.#heedsPause() && this.#pause.letIn(now)
    let noteSent = this.#allowRequest(now)
    const turn: Turn = {
      sent: () => noteSent(),
      another: async (signal) => {
        noteSent = await this.#hop(signal)
      },
      succeeded: () => {
        if (!isProbe) return
        this.#pause.end()
        this.#share.endPause()
      },
      end: () => {
        this.#underWay -= 1
        this.#share.end()
        noteSent()
        this.#admit()
      },
    }
    waiting?.settle(ok(turn))
  }

  /** Waits for a place in the rate; answers with what to call when the request goes out. */
  #hop(signal: AbortSignal): Promise<() => boolean> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        this.#hops.splice(this.#hops.indexOf(hop), 1)
        reject(signal.reason)
        this.#admit()
      }
      const hop: WaitingHop = (noteSent) => {
        signal.removeEventListener('abort', onAbort)
        resolve(noteSent)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#hops.push(hop)
      this.#admit()
    })
  }

  /** Takes a place in the rate; answers with what tells that the request goes out, and does so but once; see {@link Turn.sent}. */
  #allowRequest(now: number): () => boolean {
    this.#limiter.start(now)
    const isOver = this.#share.takeSlot()
    let sent = false
    return () => {
      if (sent) return true
      sent = true
      const inTime = this.#closed || !isOver()
      this.#limiter.sent(this.#clock.now())
      this.#admit()
      return inTime
    }
  }
}

function limitsOf({ concurrency, rateLimit }: LimitPolicy): HostLimits {
  return { concurrency, rate: rateLimit === null ? null : slotRate(rateLimit) }
}
