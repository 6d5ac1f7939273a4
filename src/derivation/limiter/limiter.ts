import type { SharedHosts } from '../../store/shared-hosts.ts'
import { backoffMs, LONGEST_PAUSE_MS } from './backoff.ts'
import { systemClock, type Clock } from './clock.ts'
import type { LimitPolicy } from './limit-policy.ts'
import { ResourceQueue, type Permit } from './resource-queue.ts'

/** The error with which a call rejects whose result is no longer needed. */
export class NotWanted extends Error {}

/** A call to make within the limits of a resource. */
export interface LimitedCall {
  /** The resource: for a host its origin (scheme, host and port), otherwise any unique name. */
  readonly resource: string
  /** The limits of the resource; those of the newest call apply to all calls that wait for it. */
  readonly policy: LimitPolicy
  /** The limits that several processes share; absent if only this process uses the resource. */
  readonly hosts?: SharedHosts | undefined
  /** Whether it continues another call, and so begins before calls that do not. */
  readonly continues?: boolean | undefined
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Called when the first try begins. */
  readonly onBegun?: (() => void) | undefined
  /** Called before every try; if it returns false, the call rejects with {@link NotWanted}. */
  readonly wanted?: (() => boolean | Promise<boolean>) | undefined
}

/** One try of a call. */
export interface Try<Result> {
  readonly result: Result
  /** Whether it failed for a temporary reason. */
  readonly mayPass: boolean
  /** The wait that the resource asks of this call, in milliseconds; null for none. */
  readonly retryAfterMs: number | null
  /**
   * The wait that it asks of all calls, with the status that asked for it; `ms` is null for as long as this call waits. Absent for none.
   */
  readonly pause?: { readonly status: number; readonly ms: number | null } | undefined
}

export interface LimiterOptions {
  /** The clock of all waits. */
  readonly clock?: Clock
  /** Returns a number from 0 up to 1, as `Math.random` does. */
  readonly random?: () => number
}

/** More calls than there ever are: the positions of calls that continue others are negative, in their order. */
const ALL_CALLS = 2 ** 52

/**
 * Limits the calls to resources: their number at a time and within a period, with retries, and with pauses that a resource asks for. Any
 * kind can use it, since it does not depend on what a call is.
 */
export class Limiter {
  readonly #clock: Clock
  readonly #random: () => number
  /** By the shared limits, then by resource. */
  readonly #queues = new Map<SharedHosts | null, Map<string, ResourceQueue>>()
  #calls = 0
  #closed = false

  constructor({ clock = systemClock, random = Math.random }: LimiterOptions = {}) {
    this.#clock = clock
    this.#random = random
  }

  /**
   * Makes a call, in as many tries as needed and allowed, and returns the result of the last. `attempt` makes a try once it has a permit,
   * and ends the permit. `refused` returns the result of a call that is not tried, since the resource asked with this status for a
   * longer pause than calls wait for. Rejects with the signal's reason, and with {@link NotWanted}.
   */
  async run<Result>(
    { resource, policy, hosts, continues, signal, onBegun, wanted }: LimitedCall,
    attempt: (permit: Permit) => Promise<Try<Result>>,
    refused: (status: number) => Result,
  ): Promise<Result> {
    const queue = this.#queue(resource, hosts ?? null)
    queue.adopt(policy)
    const order = this.#calls++ - (continues === true ? ALL_CALLS : 0)
    let notBefore = -Infinity
    let last: { readonly result: Result } | null = null
    for (let tries = 0; ; tries++) {
      const permit = await queue.permit({ order, notBefore, signal })
      if (!permit.ok) return last === null ? refused(permit.error) : last.result
      const isWanted = wanted === undefined || wanted()
      if (isWanted !== true) await stillWanted(isWanted, permit.value)
      if (tries === 0) onBegun?.()
      const tried = await attempt(permit.value)
      if (policy.retries === 0 || !tried.mayPass) return tried.result
      const { retryAfterMs, pause } = tried
      const waitMs = Math.max(backoffMs(tries, this.#random), retryAfterMs ?? 0)
      if (pause !== undefined) queue.pause(pause.ms ?? waitMs, pause.status)
      if (tries === policy.retries || waitMs > LONGEST_PAUSE_MS) return tried.result
      notBefore = this.#clock.now() + waitMs
      last = tried
    }
  }

  /** Lets all calls begin at once, waiting ones and later ones, once the transport behind the queues is closed. */
  close(): void {
    this.#closed = true
    for (const queues of this.#queues.values()) for (const queue of queues.values()) queue.close()
  }

  #queue(resource: string, hosts: SharedHosts | null): ResourceQueue {
    const queues = this.#queues.get(hosts) ?? new Map<string, ResourceQueue>()
    const known = queues.get(resource)
    if (known) return known
    const queue = new ResourceQueue(
      this.#clock,
      hosts === null ? undefined : hosts.join.bind(hosts, resource),
    )
    if (this.#closed) queue.close()
    this.#queues.set(hosts, queues.set(resource, queue))
    return queue
  }
}

/** Ends the permit and throws {@link NotWanted} if the result of the call is no longer needed. */
async function stillWanted(wanted: boolean | Promise<boolean>, permit: Permit): Promise<void> {
  try {
    if (!(await wanted)) throw new NotWanted()
  } catch (error) {
    permit.end()
    throw error
  }
}
