import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** A request as received. */
export interface RawRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  /** By lower-case name; bytes as Latin-1. */
  readonly headers: ReadonlyMap<string, string>
  /** Empty if the response does not wait for it. */
  readonly body: string
  /** The number of earlier requests on the same connection. */
  readonly earlier: number
}

/** Responds to a request with any bytes. */
export type RawAnswer = (socket: Socket, request: RawRequest) => void

/** The host of outbound calls, at the level of bytes: an HTTP server on 127.0.0.1 that may violate every rule. */
export class RawUpstream {
  /** `<METHOD> <path>` of every request whose head arrived, in order. */
  readonly calls: string[] = []
  readonly #server = createServer((socket) => this.#serve(socket))
  readonly #sockets = new Set<Socket>()
  readonly #answers = new Map<string, RawAnswer>()
  readonly #hasty = new Set<string>()

  /** Starts one that is stopped when the test ends. */
  static async start(t: TestContext): Promise<RawUpstream> {
    const upstream = new RawUpstream()
    await new Promise<void>((resolve) => upstream.#server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => upstream.#close())
    return upstream
  }

  /** `127.0.0.1:<port>`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get url(): string {
    return `http://${this.host}`
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    for (const socket of this.#sockets) await new Promise((resolve) => socket.once('close', resolve))
  }

  /**
   * Sets the response to a path from now on, whatever follows `?` or `~`, or with `*` to paths without their own; `hasty`: as soon as the
   * request's head has arrived.
   */
  answer(path: string, answer: RawAnswer, { hasty = false } = {}): void {
    this.#answers.set(path, answer)
    if (hasty) this.#hasty.add(path)
  }

  /** Returns the number of requests for a path. */
  count(path: string): number {
    return this.calls.filter((call) => call.endsWith(` ${path}`)).length
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    // A client that disconnects early appears here as a reset, which the server ignores.
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
    let received = ''
    let earlier = 0
    let announced = false
    socket.setEncoding('latin1').on('data', (text) => {
      received += String(text)
      for (;;) {
        const head = received.indexOf('\r\n\r\n')
        if (head === -1) return
        const request = parseHead(received.slice(0, head), earlier)
        if (!announced) this.calls.push(`${request.method} ${request.path}`)
        announced = true
        const end = head + 4 + Number(request.headers.get('content-length') ?? 0)
        const hasty = this.#hasty.has(request.path)
        if (received.length < end && !hasty) return
        const body = hasty ? '' : received.slice(head + 4, end)
        received = hasty ? '' : received.slice(end)
        earlier += 1
        announced = false
        this.#answer(socket, { ...request, body })
        if (hasty) return void socket.removeAllListeners('data').resume()
      }
    })
  }

  #answer(socket: Socket, request: RawRequest): void {
    const answer = this.#answers.get(request.path.split(/[?~]/, 1)[0] ?? '') ?? this.#answers.get('*')
    if (answer === undefined) socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
    else answer(socket, request)
  }

  async #close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}

function parseHead(text: string, earlier: number): Omit<RawRequest, 'body'> {
  const [line = '', ...lines] = text.split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = lines.map((header) => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()] as const
  })
  return { method, path, headers: new Map(headers), earlier }
}

/** Returns a complete response with its length. */
export function whole(body: string | Buffer, head = '', status = '200 OK'): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\n${head}content-length: ${bytes.length}\r\n\r\n`, 'latin1'),
    bytes,
  ])
}

/** Responds with these bytes; the connection stays open. */
export function say(bytes: string | Buffer): RawAnswer {
  return (socket) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
}

/** Responds with these bytes and closes the connection, or resets it. */
export function sayAndLeave(bytes: string | Buffer, how: 'close' | 'reset' = 'close'): RawAnswer {
  return (socket) => {
    const leave = (): void => void (how === 'close' ? socket.end() : socket.resetAndDestroy())
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, leave)
  }
}

/** Sends `start`, then `more` repeatedly as fast as it is read, until the client disconnects. */
export function pour(start: string, more: Buffer): RawAnswer {
  return (socket) => {
    const pourOn = (): void => {
      while (!socket.destroyed && socket.write(more));
    }
    socket.on('drain', pourOn).write(start)
    pourOn()
  }
}

/** Sends `start`, then `more` every few milliseconds until the client disconnects. */
export function drip(start: string, more: string): RawAnswer {
  return (socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(more), 20)
    socket.on('close', () => clearInterval(timer))
  }
}
