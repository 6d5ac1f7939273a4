import { isUtf8 } from 'node:buffer'
import pLimit from 'p-limit'
import type { LimitFunction } from 'p-limit'
import { Agent } from 'undici'
import { err, ok } from '../../../errors/result.ts'
import { ACCEPT_ENCODING, decodeBody } from './decode-body.ts'
import { sendHop } from './hop.ts'
import type { Hop, HopResponse } from './hop.ts'
import { BODY_LIMIT, NetworkFault } from './network-fault.ts'
import { parseJson } from './parse-json.ts'
import { MAX_REDIRECTS, redirectedHop } from './redirect.ts'
import { requestLabel } from './transport.ts'
import type { Transport, TransportRequest } from './transport.ts'

type SendResult = Awaited<ReturnType<Transport['send']>>

export interface UndiciTransportOptions {
  /** Deadline of a whole exchange, redirects and body included, in milliseconds; by default 30 s (H6). */
  readonly timeoutMs?: number
  /** Calls to one origin at a time, wherever redirects lead them; by default 8. */
  readonly concurrency?: number
}

const DEFAULTS = [
  ['accept', 'application/json'],
  ['accept-encoding', ACCEPT_ENCODING],
  ['user-agent', 'colophon'],
] as const

const DEFAULTS_WITH_BODY = [...DEFAULTS, ['content-type', 'application/json']] as const

/** Stands for the deadline as the reason of an abort. */
const TIMED_OUT = Symbol('timed out')

/**
 * The transport that calls the network. Redirects are followed by hand, at most five; bodies are read up to 10 MiB,
 * counted after decoding; connections are kept alive. Failures hold nothing but this module's own words.
 */
export class UndiciTransport implements Transport {
  readonly #timeoutMs: number
  readonly #concurrency: number
  readonly #agent: Agent
  readonly #limits = new Map<string, LimitFunction>()

  constructor({ timeoutMs = 30_000, concurrency = 8 }: UndiciTransportOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#concurrency = concurrency
    this.#agent = new Agent({
      connections: concurrency,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: timeoutMs },
      // The deadline of the exchange covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<SendResult> {
    return this.#limit(new URL(request.url).origin)(() => this.#exchange(request, signal))
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #limit(origin: string): LimitFunction {
    const known = this.#limits.get(origin)
    if (known) return known
    const limit = pLimit(this.#concurrency)
    this.#limits.set(origin, limit)
    return limit
  }

  async #exchange(request: TransportRequest, signal: AbortSignal): Promise<SendResult> {
    signal.throwIfAborted()
    const stop = new AbortController()
    const onAbort = (): void => stop.abort(signal.reason)
    signal.addEventListener('abort', onAbort)
    const deadline = setTimeout(() => stop.abort(TIMED_OUT), this.#timeoutMs)
    try {
      return await this.#call(request, stop.signal)
    } catch (error) {
      signal.throwIfAborted()
      const label = requestLabel(request)
      if (error === TIMED_OUT)
        return err({ reason: 'timeout', request: label, seconds: this.#timeoutMs / 1000 })
      if (error instanceof NetworkFault)
        return err({ reason: 'network', request: label, detail: error.message })
      throw error
    } finally {
      clearTimeout(deadline)
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #call(request: TransportRequest, signal: AbortSignal): Promise<SendResult> {
    const started = performance.now()
    const label = requestLabel(request)
    const response = await this.#follow(request, signal)
    if (response.status < 200 || response.status > 299) {
      return err({ reason: 'status', request: label, status: response.status })
    }
    const encoding = response.header('content-encoding')
    const body =
      encoding === undefined ? response.body : await decodeBody(response.body, encoding, BODY_LIMIT)
    signal.throwIfAborted()
    const json = isUtf8(body) ? parseJson(body.toString('utf8').replace(/^\uFEFF/, '')) : undefined
    if (json === undefined) return err({ reason: 'malformed-json', request: label })
    return ok({ status: response.status, json, durationMs: Math.round(performance.now() - started) })
  }

  async #follow(request: TransportRequest, signal: AbortSignal): Promise<HopResponse> {
    let hop: Hop = { ...request, headers: withDefaults(request) }
    for (let redirects = 0; ; redirects++) {
      const response = await sendHop(this.#agent, hop, signal)
      const next = redirectedHop(hop, response, request.secretHeaders)
      if (!next) return response
      if (redirects === MAX_REDIRECTS) throw new NetworkFault('too many redirects')
      hop = next
    }
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
