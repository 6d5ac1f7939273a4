import { err, ok } from '../../errors/result.ts'
import type { Result } from '../../errors/result.ts'
import type { HostLimits, HostListener, HostShare } from '../../store/shared-hosts.ts'
import { DEFAULT_LIMITS, type LimitPolicy } from './limit-policy.ts'
import type { Clock } from './clock.ts'
import { AbortWatch } from './abort-watch.ts'
import { UNSHARED } from './unshared.ts'
import { Pause } from './pause.ts'
import { RateLimiter, slotRate } from './rate-limiter.ts'

/** The position of a call in the queue for its next try. */
export interface QueueEntry {
  /** Calls start in this order, also when they are tried again. */
  readonly order: number
  /** The earliest time of the clock at which it may start. */
  readonly notBefore: number
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** The permit to make a try. */
export interface Permit {
  /**
   * Records that the request is sent; again for each that `another` permitted. False if its slot has passed, since connecting took so long:
   * then it must not be sent but wait for another.
   */
  sent(): boolean
  /** Waits until one more request of the same try is within the rate. Rejects with the signal's reason. */
  another(signal: AbortSignal): Promise<void>
  /** Records that the host has responded with a success. */
  succeeded(): void
  /** Ends the try. */
  end(): void
}

interface Waiting extends Omit<QueueEntry, 'signal'> {
  settle(permit: Result<Permit, number>): void
}

/** A waiting redirect of a try; receives the function to call when the request is sent. */
type WaitingHop = (noteSent: () => boolean) => void

function nothing(): void {}

/**
 * The queue for one resource: starts tries as concurrency, rate and pauses allow. Calls that wait, be it for a permit or a retry, do not
 * count towards the concurrency. If processes share the resource, each uses its share of the limits.
 */
export class ResourceQueue {
  readonly #clock: Clock
  readonly #limiter = new RateLimiter()
  readonly #share: HostShare
  /** By `order`. */
  readonly #waiting: Waiting[] = []
  /** In the order of their arrival; before all calls without a permit. */
  readonly #hops: WaitingHop[] = []
  readonly #pause = new Pause()
  readonly #aborts = new AbortWatch()
  #policy = DEFAULT_LIMITS
  #underWay = 0
  #closed = false
  #callOffWake = nothing

  /** `join` registers with the processes that share the resource. */
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

  /** Sets the policy from now on, also for waiting calls. */
  adopt(policy: LimitPolicy): void {
    if (policy === this.#policy) return
    this.#policy = policy
    this.#limiter.setLimit(policy.rateLimit)
    this.#share.setLimits(limitsOf(policy))
    this.#admit()
  }

  /**
   * Waits for a permit. Returns the host's status instead while it asks for a longer pause than calls wait for. Rejects with the signal's
   * reason.
   */
  permit({ order, notBefore, signal }: QueueEntry): Promise<Result<Permit, number>> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
        this.#admit()
      }
      const settle = (permit: Result<Permit, number>): void => {
        this.#aborts.remove(signal, onAbort)
        resolve(permit)
      }
      const waiting: Waiting = { order, notBefore, settle }
      this.#aborts.add(signal, onAbort)
      const before = this.#waiting.findLastIndex((other) => other.order < order)
      this.#waiting.splice(before + 1, 0, waiting)
      this.#admit()
    })
  }

  /** Records that the host has asked for a pause with this status; used for retries. */
  pause(ms: number, status: number): void {
    this.#share.pause(ms, status)
    if (this.#pause.begin(ms, status, this.#clock.now())) this.#admit()
  }

  /** Starts all calls at once, waiting ones and later ones, once the transport behind the queue is closed. */
  close(): void {
    this.#closed = true
    this.#share.leave()
    this.#admit()
  }

  /** Starts the calls that may start, and schedules its next invocation. */
  #admit(): void {
    this.#callOffWake()
    this.#callOffWake = nothing
    // Usually concurrency is the only limit: the end of a try invokes this again.
    const isFull = !this.#closed && this.#underWay >= this.#policy.concurrency
    if (isFull && this.#hops.length === 0 && this.#pause.isOver) return
    while (this.#hops.length + this.#waiting.length > 0) {
      const now = this.#clock.now()
      if (this.#respectsPause() && this.#pause.refuses(now)) this.#refuse()
      const limited = this.#closed ? 0 : this.#limiter.wait(now)
      if (this.#hops.length > 0) {
        const wait = Math.max(limited, this.#slotWait())
        if (wait > 0) return this.#wakeAfter(wait)
        this.#hops.shift()?.(this.#allowRequest(now))
      } else if (this.#waiting.length > 0) {
        const next = this.#closed ? 0 : this.#waiting.findIndex(({ notBefore }) => notBefore <= now)
        const paused = this.#respectsPause() ? this.#pause.wait(now) : 0
        const delay = Math.max(paused, next === -1 ? this.#untilNext(now) : 0)
        // The end of another try, or the share, invokes this again.
        if (this.#isFull(delay)) return
        const wait = Math.max(delay, limited, delay > 0 ? 0 : this.#slotWait())
        if (wait > 0) return this.#wakeAfter(wait)
        this.#start(next, now)
      }
    }
  }

  #respectsPause(): boolean {
    return this.#policy.retries > 0 && !this.#closed
  }

  /** A call that has to wait for something else needs no permit of the share. */
  #isFull(delay: number): boolean {
    if (this.#closed) return false
    return this.#underWay >= this.#policy.concurrency || (delay === 0 && !this.#share.hasPermit())
  }

  #slotWait(): number {
    return this.#closed ? 0 : this.#share.slotWait()
  }

  /** Returns how many calls could begin without the limit of concurrency. */
  #ready(): number {
    const now = this.#clock.now()
    if (this.#respectsPause() && this.#pause.wait(now) > 0) return 0
    return this.#waiting.reduce((count, { notBefore }) => (notBefore <= now ? count + 1 : count), 0)
  }

  /** Returns the time until the first call may start, if all have to wait. */
  #untilNext(now: number): number {
    return this.#waiting.reduce((least, { notBefore }) => Math.min(least, notBefore - now), Infinity)
  }

  #refuse(): void {
    for (const { settle } of this.#waiting.splice(0)) settle(err(this.#pause.status))
  }

  /** If that time is unknown, the next request to be sent invokes this again. */
  #wakeAfter(ms: number): void {
    if (ms < Infinity) this.#callOffWake = this.#clock.after(ms, () => this.#admit())
  }

  #start(index: number, now: number): void {
    // Usually the first, which is removed without moving the others.
    const waiting = index === 0 ? this.#waiting.shift() : this.#waiting.splice(index, 1)[0]
    this.#underWay += 1
    this.#share.begin()
    const isProbe = this.#respectsPause() && this.#pause.startTry(now)
    let noteSent = this.#allowRequest(now)
    const permit: Permit = {
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
    waiting?.settle(ok(permit))
  }

  /** Waits until a redirect is within the rate; returns the function to call when the request is sent. */
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

  /** Counts a request towards the rate; returns the function that records, once, that it is sent; see {@link Permit.sent}. */
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
