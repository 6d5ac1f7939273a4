import { Agent, Pool } from 'undici'
import { err } from '../../../../errors/result.ts'
import type { SharedHosts } from '../../../../store/shared-hosts.ts'
import { NotWanted } from '../../../definition/derivation-kind.ts'
import { siteOf } from '../../../definition/host-key.ts'
import { BodyRoom } from '../response/body-memory.ts'
import type { BodyShare } from '../response/body-memory.ts'
import { CallGuard } from '../guard/call-guard.ts'
import type { AllowedHosts } from '../guard/call-guard.ts'
import { systemClock } from '../call/clock.ts'
import type { Clock } from '../call/clock.ts'
import { tryOnce } from './exchange.ts'
import type { Tried } from './exchange.ts'
import { guardedConnector } from '../guard/guarded-connector.ts'
import type { Lookup } from '../guard/guarded-connector.ts'
import { HostQueue } from '../limits/host-queue.ts'
import type { Turn } from '../limits/host-queue.ts'
import { backoffMs, LONGEST_PAUSE_MS, withIdempotencyKey } from '../call/retry.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'

export interface UndiciTransportOptions {
  /** What waiting goes by. */
  readonly clock?: Clock
  /** A number from 0 up to 1, as `Math.random` makes them. */
  readonly random?: () => number
  /** The only hosts that are called; by default all. */
  readonly allowedHosts?: AllowedHosts
  /** Finds the addresses of a name; by default that of the system. */
  readonly lookup?: Lookup
}

/** Calls that are quicker come by about as fast as they are stored; to keep their places would only slow them down. */
const SLOW_MS = 10

/** Bytes of the bodies of all calls under way, beyond which all but the oldest wait to be read on. */
const BODY_ROOM = 8 * 1024 * 1024

/** Longer than a try takes by default, so that then it is the deadline that ends it, and shorter than systems wait. */
const CONNECT_TIMEOUT_MS = 60_000

/**
 * The transport that calls the network, as often at a time and as fast as the policy of each host allows; the newest
 * call's policy holds for all that wait for its origin. Connections are kept alive. Whatever is called, nothing
 * connects to {@link isRefusedAddress | refused addresses}.
 */
export class UndiciTransport implements Transport {
  readonly #clock: Clock
  readonly #random: () => number
  /** By whom they are shared with, and by origin. */
  readonly #queues = new Map<SharedHosts | null, Map<string, HostQueue>>()
  readonly #guard: CallGuard
  readonly #room = new BodyRoom(BODY_ROOM)
  readonly #agent: Agent
  /** Tries that are over, and whose places are to be given back. */
  #over: Turn[] = []
  #calls = 0
  #closed = false

  constructor(options: UndiciTransportOptions = {}) {
    const { clock = systemClock, random = Math.random, allowedHosts = null, lookup } = options
    this.#clock = clock
    this.#random = random
    this.#guard = new CallGuard(allowedHosts)
    this.#agent = new Agent({
      pipelining: 1,
      // Told so itself, the agent would put together and hash a key of its own for every call.
      factory: (origin, pool: Pool.Options) => new Pool(origin, { ...pool, allowH2: false }),
      connect: guardedConnector(CONNECT_TIMEOUT_MS, lookup),
      // The deadline of the exchange covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  refusal(host: string): string | null {
    return this.#guard.refusal(host)
  }

  async send(request: TransportRequest, options: SendOptions): Promise<SendResult> {
    const { signal, policy, hosts = null, onBegun, wanted } = options
    const { origin, host } = siteOf(request.url)
    const refusal = this.refusal(host)
    if (refusal !== null) return err({ reason: 'refused', request: requestLabel(request), detail: refusal })
    const queue = this.#queue(origin, hosts)
    queue.adopt(policy)
    const call = policy.retries > 0 ? withIdempotencyKey(request) : request
    const order = this.#calls++
    let notBefore = -Infinity
    let last: SendResult | null = null
    for (let tries = 0; ; tries++) {
      const turn = await queue.turn({ order, notBefore, signal })
      if (!turn.ok) return last ?? err({ reason: 'status', request: requestLabel(call), status: turn.error })
      const isWanted = wanted === undefined || wanted()
      if (isWanted !== true) await stillWanted(isWanted, turn.value)
      if (tries === 0) onBegun?.()
      const tried = await this.#try(call, turn.value, options)
      if (policy.retries === 0 || !tried.mayPass) return tried.result
      const waitMs = this.#heed(tried, tries, queue)
      if (tries === policy.retries || waitMs > LONGEST_PAUSE_MS) return tried.result
      notBefore = this.#clock.now() + waitMs
      last = tried.result
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const queues of this.#queues.values()) for (const queue of queues.values()) queue.close()
    await this.#agent.destroy()
  }

  #queue(origin: string, hosts: SharedHosts | null): HostQueue {
    const queues = this.#queues.get(hosts) ?? new Map<string, HostQueue>()
    const known = queues.get(origin)
    if (known) return known
    const queue = new HostQueue(this.#clock, hosts === null ? undefined : hosts.join.bind(hosts, origin))
    if (this.#closed) queue.close()
    this.#queues.set(hosts, queues.set(origin, queue))
    return queue
  }

  #try(request: TransportRequest, turn: Turn, options: SendOptions): Promise<Tried> {
    const { signal, policy, stored, onSent, accepts } = options
    const share = this.#room.share()
    return tryOnce(this.#agent, request, {
      signal,
      timeoutMs: policy.timeoutMs,
      turn,
      guard: this.#guard,
      share,
      ...(onSent !== undefined && { onSent }),
      ...(accepts !== undefined && { accepts }),
      whenOver: (tookMs) => {
        const kept = tookMs === null ? undefined : stored
        // What a body came to is in memory until it is stored.
        if (kept === undefined || share.size === 0) share.giveBack()
        else giveBackAfter(kept, share)
        if (kept === undefined || tookMs === null || tookMs < SLOW_MS) this.#endSoon(turn)
        else void kept.then(turn.end, turn.end)
      },
    })
  }

  /** Ends a turn when the client has its connection back, so that the next try need not open another. */
  #endSoon(turn: Turn): void {
    if (this.#over.push(turn) > 1) return
    setImmediate(() => {
      const over = this.#over
      this.#over = []
      for (const { end } of over) end()
    })
  }

  /** Leaves the host alone as a failed try asks for; answers with how long its own call has to wait. */
  #heed({ result, retryAfterMs }: Tried, tries: number, queue: HostQueue): number {
    const waitMs = Math.max(backoffMs(tries, this.#random), retryAfterMs ?? 0)
    const status = !result.ok && result.error.reason === 'status' ? result.error.status : 0
    if (status === 429) queue.pause(retryAfterMs ?? waitMs, status)
    if (status === 503 && retryAfterMs !== null) queue.pause(retryAfterMs, status)
    return waitMs
  }
}

function giveBackAfter(stored: Promise<void>, share: BodyShare): void {
  const giveBack = (): void => share.giveBack()
  void stored.then(giveBack, giveBack)
}

/** Throws {@link NotWanted}, and frees the place, when nobody needs the call any more. */
async function stillWanted(wanted: boolean | Promise<boolean>, turn: Turn): Promise<void> {
  try {
    if (!(await wanted)) throw new NotWanted()
  } catch (error) {
    turn.end()
    throw error
  }
}
