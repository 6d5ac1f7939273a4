import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import { err, ok } from '../../../errors/result.ts'
import type { BodyShare } from './body-room.ts'
import type { CallGuard } from './call-guard.ts'
import { Deadline } from './deadline.ts'
import { ACCEPT_ENCODING, decodeBody } from './decode-body.ts'
import { sendHop } from './hop.ts'
import type { Hop, HopOptions, HopResponse } from './hop.ts'
import type { Turn } from './host-queue.ts'
import { NetworkFault } from './network-fault.ts'
import { parseJson } from './parse-json.ts'
import { MAX_REDIRECTS, redirectedHop } from './redirect.ts'
import { isIdempotent, retryAfterMs } from './retry.ts'
import { requestLabel } from './transport.ts'
import type { SendResult, TransportRequest } from './transport.ts'

/** What one try of a call comes to. */
export interface Tried {
  readonly result: SendResult
  /** Whether it failed for a reason that may pass. */
  readonly mayPass: boolean
  /** How long the host wants to be left alone, in milliseconds; null when it does not say. */
  readonly retryAfterMs: number | null
}

export interface TryOptions {
  /** Breaks the try off. */
  readonly signal: AbortSignal
  /** The leave to make it. */
  readonly turn: Omit<Turn, 'end'>
  /** Asked before every redirect is followed. */
  readonly guard: CallGuard
  /** Where its body has room. Waits for more are no part of the deadline. */
  readonly share: BodyShare
  /**
   * Deadline of the whole exchange, redirects and body included, in milliseconds (H6); waits for the rate do not
   * count.
   */
  readonly timeoutMs: number
}

const DEFAULTS = [
  ['accept', 'application/json'],
  ['accept-encoding', ACCEPT_ENCODING],
  ['user-agent', 'colophon'],
] as const

const DEFAULTS_WITH_BODY = [...DEFAULTS, ['content-type', 'application/json']] as const

interface ExchangeOptions extends HopOptions {
  readonly guard: CallGuard
  /** Waits for leave to send one more request to the origin of the call. */
  another(): Promise<void>
  /** How long that has taken in all. */
  waitedMs(): number
  /** Waits for room for so many bytes in all. */
  makeRoom(bytes: number): Promise<void>
  /** Gives back the room beyond so many bytes. */
  keepRoom(bytes: number): void
}

/** Stands for the deadline as the reason of an abort. */
const TIMED_OUT = Symbol('timed out')

/**
 * Makes one try of a call. Redirects are followed by hand, at most five; bodies are read up to 10 MiB, counted after
 * decoding. Failures hold nothing but this module's own words. Rejects with the signal's reason.
 */
export async function tryOnce(
  dispatcher: Dispatcher,
  request: TransportRequest,
  { signal, turn, guard, share, timeoutMs }: TryOptions,
): Promise<Tried> {
  signal.throwIfAborted()
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(signal.reason)
  signal.addEventListener('abort', onAbort)
  const deadline = new Deadline(timeoutMs, () => stop.abort(TIMED_OUT))
  let hasGoneOut = false
  let waitedMs = 0
  const onSent = (): boolean => {
    const goesOut = turn.sent()
    hasGoneOut ||= goesOut
    return goesOut
  }
  const another = async (): Promise<void> => {
    const began = performance.now()
    deadline.stop()
    await turn.another(stop.signal)
    deadline.start()
    waitedMs += performance.now() - began
  }
  const hasRoom = (bytes: number, onRoom: () => void): boolean => {
    const has = share.has(bytes, () => {
      deadline.start()
      onRoom()
    })
    if (!has) deadline.stop()
    return has
  }
  const makeRoom = async (bytes: number): Promise<void> => {
    deadline.stop()
    await share.wait(bytes, stop.signal)
    deadline.start()
  }
  const keepRoom = (bytes: number): void => share.shrinkTo(bytes)
  try {
    deadline.start()
    const options = { signal: stop.signal, guard, onSent, another, hasRoom, makeRoom, keepRoom }
    const tried = await exchange(dispatcher, request, { ...options, waitedMs: () => waitedMs })
    if (tried.result.ok) turn.succeeded()
    return tried
  } catch (error) {
    signal.throwIfAborted()
    const label = requestLabel(request)
    if (error === TIMED_OUT) {
      const failure = { reason: 'timeout', request: label, seconds: timeoutMs / 1000 } as const
      // What is paid for may have been done.
      return { result: err(failure), mayPass: isIdempotent(request), retryAfterMs: null }
    }
    if (error instanceof NetworkFault) {
      const failure = { reason: 'network', request: label, detail: error.message } as const
      const mayPass = error.transient && (isIdempotent(request) || !hasGoneOut)
      return { result: err(failure), mayPass, retryAfterMs: null }
    }
    throw error
  } finally {
    deadline.end()
    signal.removeEventListener('abort', onAbort)
  }
}

async function exchange(
  dispatcher: Dispatcher,
  request: TransportRequest,
  options: ExchangeOptions,
): Promise<Tried> {
  const started = performance.now()
  const label = requestLabel(request)
  const response = await follow(dispatcher, request, options)
  const { status } = response
  if (status < 200 || status > 299) {
    return {
      result: err({ reason: 'status', request: label, status }),
      mayPass: status === 429 || (status >= 500 && status <= 599),
      retryAfterMs: retryAfterMs(response.header('retry-after'), response.header('date')),
    }
  }
  const body = await decodedBody(response, options)
  options.signal.throwIfAborted()
  const json = isUtf8(body) ? parseJson(body.toString('utf8').replace(/^\uFEFF/, '')) : undefined
  const result =
    json === undefined
      ? err({ reason: 'malformed-json', request: label } as const)
      : ok({ status, json, durationMs: Math.round(performance.now() - started - options.waitedMs()) })
  return { result, mayPass: false, retryAfterMs: null }
}

async function decodedBody(response: HopResponse, options: ExchangeOptions): Promise<Buffer> {
  const encoding = response.header('content-encoding')
  if (encoding === undefined) return response.body
  const body = await decodeBody(response.body, encoding, options.makeRoom)
  options.keepRoom(body.length)
  return body
}

async function follow(
  dispatcher: Dispatcher,
  request: TransportRequest,
  options: ExchangeOptions,
): Promise<HopResponse> {
  let hop: Hop = { ...request, headers: withDefaults(request) }
  for (let redirects = 0; ; redirects++) {
    const response = await sendInTime(dispatcher, hop, options)
    const next = redirectedHop(hop, response, request.secretHeaders)
    if (!next) return response
    if (redirects === MAX_REDIRECTS) throw new NetworkFault('too many redirects')
    options.guard.checkRedirect(new URL(next.url))
    hop = next
    if (new URL(hop.url).origin === new URL(request.url).origin) await options.another()
    options.signal.throwIfAborted()
  }
}

/** A connection that was long in coming is there for the next moment. */
async function sendInTime(dispatcher: Dispatcher, hop: Hop, options: ExchangeOptions): Promise<HopResponse> {
  for (;;) {
    const response = await sendHop(dispatcher, hop, options)
    if (response !== null) return response
    await options.another()
    options.signal.throwIfAborted()
  }
}

/** The request's headers, with those that every call has unless the derivation says otherwise, ready to go out. */
function withDefaults({ headers, body }: TransportRequest): Record<string, string> {
  const all: Record<string, string> = {}
  const given = new Set<string>()
  for (const [name, text] of Object.entries(headers)) {
    all[name] = latin1(text)
    given.add(name.toLowerCase())
  }
  for (const [name, text] of body === null ? DEFAULTS : DEFAULTS_WITH_BODY) {
    if (!given.has(name)) all[name] = text
  }
  return all
}

/** Headers go out byte by byte; this way the bytes are those of the text in UTF-8. */
function latin1(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
