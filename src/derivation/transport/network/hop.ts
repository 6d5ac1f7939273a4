import type { Dispatcher } from 'undici'
import { siteOf } from '../../definition/host-key.ts'
import type { Breakable, BreakOff } from '../call/call-cancellation.ts'
import { ERROR_BODY_BYTES } from '../response/error-body.ts'
import { GrowingBuffer } from '../response/growing-buffer.ts'
import {
  BODY_LIMIT,
  HEADERS_TOO_LARGE,
  NetworkFault,
  TOO_LARGE,
  toNetworkFault,
} from '../call/network-fault.ts'

/** One request of an exchange; redirects make it several. */
export interface Hop {
  readonly method: string
  readonly url: string
  /** Values are bytes, each a character up to U+00FF. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The response to one request. */
export interface HopResponse {
  readonly status: number
  /** Returns a header's value; several values are joined by commas. */
  header(name: string): string | undefined
  /** The body as sent, still encoded; only the first 16 KiB unless the status is 200–299. */
  readonly body: Buffer
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

const NO_HEADERS: ResponseHeaders = {}

/** Bytes and milliseconds for which the rest of an error response is read, to keep its connection. */
const DISCARD_BYTES = 64 * 1024
const DISCARD_MS = 500

/** Most interim responses (status 100 to 199) before the response itself; none is used. */
const MAX_INTERIM = 100

/**
 * Most chunks of a body, and the bytes that allow one more: ten million chunks of a byte each would be within the size limit, and take
 * seconds of work.
 */
const PIECES = 20_000
const BYTES_PER_PIECE = 64

/** Most header lines of a response; the client limits their length. */
const MAX_HEADERS = 500

export interface HopOptions {
  /** Cancels the exchange; not yet cancelled. */
  readonly breakOff: BreakOff
  /** Called right before the request is sent on a connection; if it returns false, it is not sent. */
  onSent(): boolean
  /** Whether there is memory for this many bytes of a body; if not, `onFree` is called once there is. */
  hasMemory(bytes: number, onFree: () => void): boolean
}

/**
 * Sends one request and reads its response; null if it was not to be sent. Rejects with the reason of a cancellation, and with NetworkFault
 * for a body beyond the limit and for an error of the connection.
 */
export function sendHop(dispatcher: Dispatcher, hop: Hop, options: HopOptions): Promise<HopResponse | null> {
  return new Promise((resolve, reject) => {
    const reading = new HopReading(resolve, reject, options)
    const { method, url, headers, body } = hop
    const { origin, path } = target(url)
    dispatcher.dispatch({ method, headers, body, origin, path }, reading)
  })
}

/** Whether a status is 200–299, for which the body is read. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

/** Splits a URL so that its path is sent as written; a fragment is not sent (RFC 9110, section 7.1). */
function target(url: string): { origin: string; path: string } {
  const { start, origin } = siteOf(url)
  const fragment = url.indexOf('#')
  const rest = url.slice(start.length, fragment === -1 ? undefined : fragment)
  return { origin, path: rest.startsWith('/') ? rest : `/${rest}` }
}

class HopReading implements Dispatcher.DispatchHandler, Breakable {
  readonly #resolve: (response: HopResponse | null) => void
  readonly #reject: (error: unknown) => void
  readonly #options: HopOptions
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status = 0
  #headers: ResponseHeaders = NO_HEADERS
  #interim = 0
  readonly #body = new GrowingBuffer()
  #pieces = 0
  #discarded = 0
  #discardTimer: NodeJS.Timeout | undefined

  constructor(
    resolve: (response: HopResponse | null) => void,
    reject: (error: unknown) => void,
    options: HopOptions,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.#options = options
    options.breakOff.watch(this)
  }

  breakOff(reason: unknown): void {
    this.#end(() => this.#reject(reason))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) this.#abort()
    else if (!this.#options.onSent()) this.#holdBack()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#ended) return
    if (status < 200) {
      this.#interim += 1
      if (this.#interim > MAX_INTERIM) this.#fail('too many interim responses')
      return
    }
    // Names and values alternate.
    const { rawHeaders } = controller
    if (Array.isArray(rawHeaders) && rawHeaders.length > 2 * MAX_HEADERS) return this.#fail(HEADERS_TOO_LARGE)
    this.#status = status
    this.#headers = headers
    if (this.#isWanted() && Number(headers['content-length']) > BODY_LIMIT) return this.#fail(TOO_LARGE)
    if (!this.#isWanted()) this.#discardTimer = setTimeout(() => this.#stopDiscarding(), DISCARD_MS)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return
    this.#pieces += 1
    if (!this.#isWanted()) {
      this.#discarded += chunk.length
      this.#body.add(chunk.subarray(0, Math.max(0, ERROR_BODY_BYTES - this.#body.length)))
      if (this.#discarded > DISCARD_BYTES) this.#stopDiscarding()
    } else if (this.#body.length + chunk.length > BODY_LIMIT) {
      this.#fail(TOO_LARGE)
    } else if (this.#pieces > PIECES + this.#body.length / BYTES_PER_PIECE) {
      this.#fail('body in too many pieces')
    } else {
      this.#body.add(chunk)
      if (!this.#options.hasMemory(this.#body.length, () => this.#readOn(controller))) controller.pause()
    }
  }

  onResponseEnd(): void {
    this.#settle(() => this.#resolve(this.#response()))
  }

  onResponseError(_controller: unknown, error: Error): void {
    // The headers of an error response are enough for its failure.
    if (this.#status !== 0 && !this.#isWanted()) this.#settle(() => this.#resolve(this.#response()))
    else this.#settle(() => this.#reject(toNetworkFault(error)))
  }

  #isWanted(): boolean {
    return isSuccess(this.#status)
  }

  #readOn(controller: Dispatcher.DispatchController): void {
    if (!this.#ended) controller.resume()
  }

  #stopDiscarding(): void {
    this.#end(() => this.#resolve(this.#response()))
  }

  #response(): HopResponse {
    const headers = this.#headers
    return {
      status: this.#status,
      header(name) {
        const value = headers[name]
        return Array.isArray(value) ? value.join(', ') : value
      },
      body: this.#body.bytes(),
    }
  }

  #fail(detail: string): void {
    this.#end(() => this.#reject(new NetworkFault(detail)))
  }

  /** Settles before the response has ended, which closes the connection. */
  #end(settle: () => void): void {
    this.#settle(settle)
    this.#abort()
  }

  #settle(settle: () => void): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#discardTimer)
    this.#options.breakOff.watch(null)
    settle()
  }

  /** Stops before anything is sent, so that the next request can use the connection. */
  #holdBack(): void {
    this.#settle(() => this.#resolve(null))
    // For the client the request has failed; an abort would close the connection.
    throw new NetworkFault('held back')
  }

  #abort(): void {
    this.#controller?.abort(new NetworkFault('broken off'))
  }
}
