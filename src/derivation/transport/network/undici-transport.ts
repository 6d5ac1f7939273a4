import { Agent, Pool } from 'undici'
import { err } from '../../../errors/result.ts'
import { siteOf } from '../../definition/host-key.ts'
import { BodyMemory } from '../response/body-memory.ts'
import type { BodyReservation } from '../response/body-memory.ts'
import { CallGuard } from '../guard/call-guard.ts'
import type { AllowedHosts } from '../guard/call-guard.ts'
import { tryOnce } from './exchange.ts'
import type { Tried } from './exchange.ts'
import { guardedConnector } from '../guard/guarded-connector.ts'
import type { Lookup } from '../guard/guarded-connector.ts'
import { Limiter, type LimiterOptions, type Try } from '../../limiter/limiter.ts'
import type { FailedTry } from '../../recording/recorded-call.ts'
import type { Permit } from '../../limiter/resource-queue.ts'
import { withIdempotencyKey } from '../call/retry.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendFailure, SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'

export interface UndiciTransportOptions extends LimiterOptions {
  /** The only hosts that are called; by default all. */
  readonly allowedHosts?: AllowedHosts
  /** Resolves the addresses of a name; by default the system does. */
  readonly lookup?: Lookup
}

/**
 * Shortest duration of a slow call. Faster calls complete about as fast as they are stored; holding their permits would only slow them
 * down.
 */
const SLOW_MS = 10

/** Bytes of the bodies of all calls under way, beyond which all but the oldest wait. */
const BODY_MEMORY = 8 * 1024 * 1024

/** Longer than the default deadline of a try, so that usually the deadline ends it, and shorter than the timeout of systems. */
const CONNECT_TIMEOUT_MS = 60_000

/**
 * The transport to the network, within the concurrency and rate of each host's policy; the newest call's policy applies to all calls that
 * wait for its origin. Connections are kept alive. It never connects to {@link isRefusedAddress | refused addresses}.
 */
export class UndiciTransport implements Transport {
  readonly #limiter: Limiter
  readonly #guard: CallGuard
  readonly #memory = new BodyMemory(BODY_MEMORY)
  readonly #agent: Agent
  /** Tries that have ended, and whose permits are to be ended. */
  #over: Permit[] = []

  constructor(options: UndiciTransportOptions = {}) {
    const { allowedHosts = null, lookup } = options
    this.#limiter = new Limiter(options)
    this.#guard = new CallGuard(allowedHosts)
    this.#agent = new Agent({
      pipelining: 1,
      // If the agent received the option, it would build and hash a key of its own for every call.
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
    const { signal, policy, limiter = this.#limiter, hosts, continues, onBegun, wanted } = options
    const { origin, host } = siteOf(request.url)
    const refusal = this.refusal(host)
    if (refusal !== null) return err({ reason: 'refused', request: requestLabel(request), detail: refusal })
    const call = policy.retries > 0 ? withIdempotencyKey(request) : request
    return limiter.run<SendResult>(
      { resource: origin, policy, hosts, continues, signal, onBegun, wanted },
      async (permit) => {
        const tried = await this.#try(call, permit, options)
        if (!tried.result.ok) options.onFailedTry?.(failedTry(tried.result.error, tried))
        return asTry(tried)
      },
      (status) => err({ reason: 'status', request: requestLabel(call), status }),
    )
  }

  async close(): Promise<void> {
    this.#limiter.close()
    await this.#agent.destroy()
  }

  #try(request: TransportRequest, permit: Permit, options: SendOptions): Promise<Tried> {
    const { signal, policy, stored, onKept, onSent, accepts, mayRetry } = options
    const reservation = this.#memory.reserve()
    return tryOnce(this.#agent, request, {
      signal,
      timeoutMs: policy.timeoutMs,
      permit,
      guard: this.#guard,
      reservation,
      ...(onSent !== undefined && { onSent }),
      ...(accepts !== undefined && { accepts }),
      ...(mayRetry !== undefined && { mayRetry }),
      whenOver: (tookMs) => {
        const kept = tookMs === null ? undefined : stored
        // The parsed body is in memory until its values are stored.
        if (kept === undefined || reservation.size === 0) reservation.release()
        else releaseAfter(kept, reservation)
        if (kept === undefined || tookMs === null || tookMs < SLOW_MS) return this.#endSoon(permit)
        onKept?.()
        void kept.then(permit.end, permit.end)
      },
    })
  }

  /** Ends a permit once the client has its connection back, so that the next try need not open another. */
  #endSoon(permit: Permit): void {
    if (this.#over.push(permit) > 1) return
    setImmediate(() => {
      const over = this.#over
      this.#over = []
      for (const { end } of over) end()
    })
  }
}

function failedTry(error: SendFailure, { retryAfterMs }: Tried): FailedTry {
  return { reason: error.reason, status: error.reason === 'status' ? error.status : null, retryAfterMs }
}

/** Returns a try of a call with the pause that its host asked for: 429 pauses all calls, and so does 503 with `Retry-After`. */
function asTry({ result, mayPass, retryAfterMs }: Tried): Try<SendResult> {
  const status = !result.ok && result.error.reason === 'status' ? result.error.status : 0
  const isPause = status === 429 || (status === 503 && retryAfterMs !== null)
  return { result, mayPass, retryAfterMs, pause: isPause ? { status, ms: retryAfterMs } : undefined }
}

function releaseAfter(stored: Promise<void>, reservation: BodyReservation): void {
  const release = (): void => reservation.release()
  void stored.then(release, release)
}
