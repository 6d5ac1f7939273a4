import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import { err } from '../../../errors/result.ts'
import { AbortWatch } from '../../limiter/abort-watch.ts'
import type { BodyReservation } from '../response/body-memory.ts'
import { BreakOff } from '../call/call-cancellation.ts'
import type { CallGuard } from '../guard/call-guard.ts'
import { Deadline } from '../call/deadline.ts'
import { ACCEPT_ENCODING, decodeBody } from '../response/decode-body.ts'
import { errorText } from '../response/error-body.ts'
import { isSuccess, sendHop } from './hop.ts'
import type { Hop, HopOptions, HopResponse } from './hop.ts'
import type { Permit } from '../../limiter/resource-queue.ts'
import { NetworkFault } from '../call/network-fault.ts'
import { MAX_REDIRECTS, redirectedHop } from './redirect.ts'
import { resultOf } from './result-of.ts'
import { isIdempotent, retryAfterMs, statusMayPass } from '../call/retry.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendResult, TransportRequest } from '../call/transport.ts'

/** The result of one try of a call. */
export interface Tried {
  readonly result: SendResult
  /** Whether it failed for a temporary reason. */
  readonly mayPass: boolean
  /** The wait that the host asks for, in milliseconds; null for none. */
  readonly retryAfterMs: number | null
}

export interface TryOptions {
  /** Cancels the try. */
  readonly signal: AbortSignal
  /** Statuses that are a success whatever the body. */
  readonly accepts?: Pick<ReadonlySet<number>, 'has'>
  /** Whether an error of this status may be temporary, and be tried again. */
  readonly mayRetry?: (status: number) => boolean
  /** The permit to make it. */
  readonly permit: Omit<Permit, 'end'>
  /** Checks the URL before every redirect is followed. */
  readonly guard: CallGuard
  /** The memory for its body. Waits for more do not count towards the deadline. */
  readonly reservation: BodyReservation
  /** Deadline of the whole exchange, including redirects and the body, in milliseconds (H6); waits for the rate do not count. */
  readonly timeoutMs: number
  /** Called whenever a request is sent. */
  readonly onSent?: () => void
  /** Called when the try has ended, with its duration in milliseconds; null if it failed. */
  whenOver(tookMs: number | null): void
}

const DEFAULTS = {
  accept: 'application/json',
  'accept-encoding': ACCEPT_ENCODING,
  'user-agent': 'colophon',
}

const DEFAULTS_WITH_BODY = { ...DEFAULTS, 'content-type': 'application/json' }

/** The reason for cancelling a try at its deadline. */
const TIMED_OUT = Symbol('timed out')

/** Notifies the tries under way when their run is stopped. */
const ABORTS = new AbortWatch()

/**
 * Makes one try of a call. It follows at most five redirects itself, and reads bodies up to 10 MiB, counted after decoding. Rejects with
 * the signal's reason.
 */
export function tryOnce(
  dispatcher: Dispatcher,
  request: TransportRequest,
  options: TryOptions,
): Promise<Tried> {
  return new Try(dispatcher, request, options).run()
}

class Try implements HopOptions {
  readonly breakOff = new BreakOff()
  readonly #dispatcher: Dispatcher
  readonly #request: TransportRequest
  readonly #options: TryOptions
  readonly #deadline: Deadline
  #hasGoneOut = false
  /** Milliseconds that it waited for the rate to send further requests. */
  #waitedMs = 0

  constructor(dispatcher: Dispatcher, request: TransportRequest, options: TryOptions) {
    this.#dispatcher = dispatcher
    this.#request = request
    this.#options = options
    this.#deadline = new Deadline(options.timeoutMs, () => this.breakOff.now(TIMED_OUT))
  }

  async run(): Promise<Tried> {
    const { signal, permit } = this.#options
    const onAbort = (): void => this.breakOff.now(signal.reason)
    let tookMs: number | null = null
    try {
      signal.throwIfAborted()
      ABORTS.add(signal, onAbort)
      const started = performance.now()
      this.#deadline.start(started)
      const first = { ...this.#request, headers: withDefaults(this.#request) }
      const sent = await sendHop(this.#dispatcher, first, this)
      const response = sent !== null && isSuccess(sent.status) ? sent : await this.#follow(first, sent)
      const encoding = response.header('content-encoding')
      const isPlain = encoding === undefined || !isSuccess(response.status)
      const body = isPlain ? response.body : await this.#decoded(response.body, encoding)
      this.breakOff.throwIfBroken()
      const ms = performance.now() - started
      const tried = await this.#tried(response, body, ms - this.#waitedMs)
      if (tried.result.ok) {
        tookMs = ms
        permit.succeeded()
      }
      return tried
    } catch (error) {
      signal.throwIfAborted()
      return this.#failed(error)
    } finally {
      this.#deadline.end()
      ABORTS.remove(signal, onAbort)
      this.#options.whenOver(tookMs)
    }
  }

  onSent(): boolean {
    const goesOut = this.#options.permit.sent()
    if (goesOut) this.#options.onSent?.()
    this.#hasGoneOut ||= goesOut
    return goesOut
  }

  hasMemory(bytes: number, onFree: () => void): boolean {
    const has = this.#options.reservation.has(bytes, () => {
      this.#deadline.start()
      onFree()
    })
    if (!has) this.#deadline.stop()
    return has
  }

  #failed(error: unknown): Tried {
    const request = requestLabel(this.#request)
    if (error === TIMED_OUT) {
      const failure = { reason: 'timeout', request, seconds: this.#options.timeoutMs / 1000 } as const
      // A paid operation may have been carried out.
      return { result: err(failure), mayPass: isIdempotent(this.#request), retryAfterMs: null }
    }
    if (error instanceof NetworkFault) {
      const failure = { reason: 'network', request, detail: error.message } as const
      const mayPass = error.transient && (isIdempotent(this.#request) || !this.#hasGoneOut)
      return { result: err(failure), mayPass, retryAfterMs: null }
    }
    throw error
  }

  /** Returns the result of a response; `body` is decoded if the response is a success. */
  async #tried({ status, header }: HopResponse, body: Buffer, tookMs: number): Promise<Tried> {
    const { accepts, mayRetry = statusMayPass } = this.#options
    const text = isSuccess(status)
      ? textOf(body)
      : ((await errorText(body, header('content-encoding'))) ?? '')
    const received = { request: this.#request, status, text, durationMs: Math.round(tookMs) }
    const result = resultOf(received, accepts)
    if (result.ok) return { result, mayPass: false, retryAfterMs: null }
    if (result.error.reason !== 'status') {
      const start = await errorText(body, undefined)
      const failure = { ...result.error, ...(start !== undefined && { received: start }) }
      return { result: err(failure), mayPass: false, retryAfterMs: null }
    }
    const wait = retryAfterMs(header('retry-after'), header('date'))
    return { result, mayPass: mayRetry(status), retryAfterMs: wait }
  }

  #accepts(status: number): boolean {
    return this.#options.accepts?.has(status) === true
  }

  /** Follows redirects of a response, and sends a request again that was not to be sent. */
  async #follow(first: Hop, sent: HopResponse | null): Promise<HopResponse> {
    const { url, secretHeaders } = this.#request
    let hop = first
    let response = sent
    for (let redirects = 0; ;) {
      if (response === null) {
        // After a slow connection, the next slot can be used.
        await this.#another()
      } else {
        if (this.#accepts(response.status)) return response
        const next = redirectedHop(hop, response, secretHeaders)
        if (!next) return response
        if (redirects === MAX_REDIRECTS) throw new NetworkFault('too many redirects')
        redirects += 1
        this.#options.guard.checkRedirect(new URL(next.url))
        hop = next
        if (new URL(hop.url).origin === new URL(url).origin) await this.#another()
        else this.breakOff.throwIfBroken()
      }
      response = await sendHop(this.#dispatcher, hop, this)
    }
  }

  /** Waits until one more request to the origin of the call is within the rate. */
  async #another(): Promise<void> {
    const began = performance.now()
    this.#deadline.stop()
    await this.#options.permit.another(this.breakOff.signal)
    this.#deadline.start()
    this.#waitedMs += performance.now() - began
    this.breakOff.throwIfBroken()
  }

  async #decoded(body: Buffer, encoding: string): Promise<Buffer> {
    const { reservation } = this.#options
    const decoded = await decodeBody(body, encoding, async (bytes) => {
      this.#deadline.stop()
      await reservation.wait(bytes, this.breakOff.signal)
      this.#deadline.start()
    })
    reservation.shrinkTo(decoded.length)
    return decoded
  }
}

function textOf(body: Buffer): string {
  return isUtf8(body) ? withoutMark(body.toString('utf8')) : ''
}

/** Removes the byte order mark at the start of a text. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Returns the request's headers, with defaults for those that the derivation does not set, encoded for sending. */
function withDefaults({ headers, body }: TransportRequest): Readonly<Record<string, string>> {
  const defaults = body === null ? DEFAULTS : DEFAULTS_WITH_BODY
  const names = Object.keys(headers)
  if (names.length === 0) return defaults
  const given = new Set(names.map((name) => name.toLowerCase()))
  const all: Record<string, string> = {}
  for (const [name, text] of Object.entries(headers)) all[name] = latin1(text)
  for (const [name, text] of Object.entries(defaults)) if (!given.has(name)) all[name] = text
  return all
}

/** Headers are sent byte by byte; so the bytes are those of the text in UTF-8. */
function latin1(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
