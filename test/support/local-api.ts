import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { setImmediate } from 'node:timers/promises'
import { onEnd } from './on-end.ts'

/** A request as it arrived. */
export interface ApiRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** The response to a request: JSON, other text, or a connection that breaks. */
export type ApiAnswer =
  | { readonly json: unknown; readonly status?: number }
  | { readonly text: string; readonly status?: number }
  | { readonly breaks: true }

type Responder = (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>

/** Responses that are held back until a test releases them. */
export interface Hold {
  /** Resolves when this many requests have arrived and wait. */
  arrived(count?: number): Promise<void>
  /** Releases the waiting responses, and all later ones. */
  release(): void
}

interface Gate {
  readonly matches: (path: string) => boolean
  readonly opened: Promise<void>
  arrivals: number
  onArrival: () => void
}

/** The host of outbound calls: a real local HTTP server that counts its requests. */
export class LocalApi {
  readonly requests: ApiRequest[] = []
  /** Callers that disconnected before their response. */
  hungUp = 0
  /** The most requests that waited for their response at one time. */
  peak = 0
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #answers = new Map<string, Responder>()
  readonly #gates = new Set<Gate>()
  #waiting = 0
  #onRequest = (): void => undefined
  #fallback: Responder = () => ({ status: 404, json: { error: 'not here' } })

  /** `http://127.0.0.1:<port>`. */
  get url(): string {
    return `http://${this.host}`
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onRequest = () => {
        if (this.requests.length >= count) resolve()
      }
      this.#onRequest()
    })
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    const open = promisify(this.#server.getConnections.bind(this.#server))
    while ((await open()) > 0) await setImmediate()
  }

  /** Sets the response to a path from now on, or with `*` to every path without its own. */
  answer(path: string, answer: ApiAnswer | Responder): void {
    const responder = typeof answer === 'function' ? answer : () => answer
    if (path === '*') this.#fallback = responder
    else this.#answers.set(path, responder)
  }

  /** Holds back the responses to a path from now on, or to all paths with the prefix before a trailing `*`. */
  hold(path: string): Hold {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const gate: Gate = {
      matches: (asked) => (path.endsWith('*') ? asked.startsWith(path.slice(0, -1)) : asked === path),
      opened,
      arrivals: 0,
      onArrival: () => undefined,
    }
    this.#gates.add(gate)
    return {
      arrived: (count = 1) =>
        new Promise((resolve) => {
          gate.onArrival = () => {
            if (gate.arrivals >= count) resolve()
          }
          gate.onArrival()
        }),
      release: () => {
        this.#gates.delete(gate)
        open()
      },
    }
  }

  /** Returns the number of requests by `<METHOD> <path>`. */
  calls(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { method, path } of this.requests) {
      counts[`${method} ${path}`] = (counts[`${method} ${path}`] ?? 0) + 1
    }
    return counts
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = incoming
    const request: ApiRequest = { method, path, headers, body: Buffer.concat(chunks).toString() }
    this.requests.push(request)
    this.#onRequest()
    response.on('close', () => {
      if (!response.writableFinished) this.hungUp += 1
    })
    this.#waiting += 1
    this.peak = Math.max(this.peak, this.#waiting)
    await this.#pass(path)
    // Requests that have arrived are counted before this one ends, so that `peak` includes both.
    await setImmediate()
    this.#waiting -= 1
    send(response, await (this.#answers.get(path) ?? this.#fallback)(request))
  }

  async #pass(path: string): Promise<void> {
    for (const gate of this.#gates) {
      if (!gate.matches(path)) continue
      gate.arrivals += 1
      gate.onArrival()
      await gate.opened
    }
  }
}

/** Starts an API that is stopped when the test ends. */
export async function startLocalApi(t: Pick<TestContext, 'after'>): Promise<LocalApi> {
  const api = new LocalApi()
  await api.listen()
  onEnd(t, () => api.close())
  return api
}

function send(response: ServerResponse, answer: ApiAnswer): void {
  if ('breaks' in answer) {
    response.destroy()
    return
  }
  const text = 'text' in answer ? answer.text : JSON.stringify(answer.json)
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' }).end(text)
}
