import { CallGuard } from '../guard/call-guard.ts'
import type { AllowedHosts } from '../guard/call-guard.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'
import type { UndiciTransport } from './undici-transport.ts'

export interface NetworkTransportOptions {
  /** The only hosts that are called; by default all. */
  readonly allowedHosts?: AllowedHosts
  /** Called once, right before the first call, when everything that calls need has been loaded. */
  readonly onLoaded?: () => void
}

/**
 * Calls the network through an {@link UndiciTransport} that is loaded at the first call: loading takes a tenth of a start, and many
 * operations make no call.
 */
export class NetworkTransport implements Transport {
  readonly #allowedHosts: AllowedHosts
  readonly #guard: CallGuard
  readonly #onLoaded: (() => void) | undefined
  #loading: Promise<UndiciTransport> | null = null
  #loaded: UndiciTransport | null = null
  #closed = false

  constructor({ allowedHosts = null, onLoaded }: NetworkTransportOptions = {}) {
    this.#allowedHosts = allowedHosts
    this.#onLoaded = onLoaded
    this.#guard = new CallGuard(allowedHosts)
  }

  refusal(host: string): string | null {
    return this.#guard.refusal(host)
  }

  send(request: TransportRequest, options: SendOptions): Promise<SendResult> {
    return this.#loaded === null ? this.#loadAndSend(request, options) : this.#loaded.send(request, options)
  }

  async close(): Promise<void> {
    this.#closed = true
    const transport = await this.#loading
    await transport?.close()
  }

  async #loadAndSend(request: TransportRequest, options: SendOptions): Promise<SendResult> {
    return (await this.#load()).send(request, options)
  }

  #load(): Promise<UndiciTransport> {
    this.#loading ??= this.#create()
    return this.#loading
  }

  async #create(): Promise<UndiciTransport> {
    const { UndiciTransport: Client } = await import('./undici-transport.ts')
    const transport = new Client({ allowedHosts: this.#allowedHosts })
    // A closed transport refuses the call.
    if (this.#closed) await transport.close()
    this.#loaded = transport
    this.#onLoaded?.()
    return transport
  }
}
