import type { Dispatcher } from 'undici'
import { BODY_LIMIT, NetworkFault, TOO_LARGE, toNetworkFault } from './network-fault.ts'

/** One request of an exchange; redirects make it several. */
export interface Hop {
  readonly method: string
  readonly url: string
  /** Values are bytes, each a character up to U+00FF. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The answer to one request. */
export interface HopResponse {
  readonly status: number
  /** A header's value, the values joined by commas when it is there several times. */
  header(name: string): string | undefined
  /** As sent, still encoded; empty unless the status is 200–299. */
  readonly body: Buffer
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** How much, and how long, of the body of an answer that nobody reads is waited for to keep its connection. */
const DISCARD_BYTES = 64 * 1024
const DISCARD_MS = 500

export interface HopOptions {
  /** Breaks the exchange off. */
  readonly signal: AbortSignal
  /** Called right before the request goes out on a connection. */
  onSent(): void
}

/**
 * Sends one request and reads its answer. Rejects with the signal's reason when it aborts, and with NetworkFault for
 * a body past the limit and for what breaks the connection.
 */
export function sendHop(dispatcher: Dispatcher, hop: Hop, options: HopOptions): Promise<HopResponse> {
  return new Promise((resolve, reject) => {
    const reading = new HopReading(resolve, reject, options)
    const { origin, path } = target(hop.url)
    dispatcher.dispatch({ ...hop, origin, path }, reading)
  })
}

/** Splits a URL so that its path goes out as it is written; a fragment is not sent (RFC 9110, section 7.1). */
function target(url: string): { origin: string; path: string } {
  const [, start = '', rest = ''] = /^([a-z]+:\/\/[^/?#]*)([^#]*)/i.exec(url) ?? []
  return { origin: new URL(start).origin, path: rest.startsWith('/') ? rest : `/${rest}` }
}

class HopReading implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: HopResponse) => void
  readonly #reject: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #onSent: () => void
  readonly #onAbort = (): void => this.#end(() => this.#reject(this.#signal.reason))
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status = 0
  #headers: ResponseHeaders = {}
  #chunks: Buffer[] = []
  #size = 0
  #discardTimer: NodeJS.Timeout | undefined

  constructor(
    resolve: (response: HopResponse) => void,
    reject: (error: unknown) => void,
    { signal, onSent }: HopOptions,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    this.#onSent = onSent
    signal.addEventListener('abort', this.#onAbort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) this.#breakOff()
    else this.#onSent()
  }

  onResponseStart(_controller: unknown, status: number, headers: ResponseHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (!this.#isWanted()) this.#discardTimer = setTimeout(() => this.#stopDiscarding(), DISCARD_MS)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#ended) return
    this.#size += chunk.length
    if (!this.#isWanted()) {
      if (this.#size > DISCARD_BYTES) this.#stopDiscarding()
    } else if (this.#size > BODY_LIMIT) {
      this.#end(() => this.#reject(new NetworkFault(TOO_LARGE)))
    } else {
      this.#chunks.push(chunk)
    }
  }

  onResponseEnd(): void {
    this.#settle(() => this.#resolve(this.#response()))
  }

  onResponseError(_controller: unknown, error: Error): void {
    // An answer that nobody reads the body of is known with its headers.
    if (this.#status !== 0 && !this.#isWanted()) this.#settle(() => this.#resolve(this.#response()))
    else this.#settle(() => this.#reject(toNetworkFault(error)))
  }

  #isWanted(): boolean {
    return this.#status >= 200 && this.#status <= 299
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
      body: this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks),
    }
  }

  /** Settles before the answer has ended, which costs the connection. */
  #end(settle: () => void): void {
    this.#settle(settle)
    this.#breakOff()
  }

  #settle(settle: () => void): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#discardTimer)
    this.#signal.removeEventListener('abort', this.#onAbort)
    settle()
  }

  #breakOff(): void {
    this.#controller?.abort(new NetworkFault('broken off'))
  }
}
