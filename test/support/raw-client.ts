import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** A connection to 127.0.0.1 that sends any bytes, well-formed or not, and collects the response as text. */
export class RawClient {
  readonly socket: Socket
  /** Received text that has not been taken yet. */
  received = ''
  #ended = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      this.received += String(text)
      this.#wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#ended = true
      this.#wake()
    })
  }

  /** Connects; the connection is closed when the test ends. */
  static async open(t: TestContext, port: number): Promise<RawClient> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket = connect(port, '127.0.0.1', resolve)
    socket.once('error', reject)
    await promise
    onEnd(t, () => socket.destroy())
    return new RawClient(socket)
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** Resolves as soon as `until` is true for the received text; rejects if the connection ends before. */
  async waitFor(until: (received: string) => boolean): Promise<string> {
    while (!until(this.received)) {
      if (this.#ended)
        throw new Error(`the connection ended after ${JSON.stringify(this.received.slice(-500))}`)
      await this.#change()
    }
    return this.received
  }

  /** Resolves with everything received once the connection has ended. */
  async end(): Promise<string> {
    while (!this.#ended) await this.#change()
    return this.received
  }

  /** Waits for one complete response with a Content-Length, removes it from the received text and returns it. */
  async answer(): Promise<{ status: number; headers: string; body: string }> {
    const sizes = (text: string): [head: number, body: number] => {
      const head = text.indexOf('\r\n\r\n') + 4
      return [head, Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1] ?? NaN)]
    }
    const text = await this.waitFor((so_far) => {
      const [head, body] = sizes(so_far)
      return head > 3 && so_far.length >= head + body
    })
    const [head, length] = sizes(text)
    this.received = text.slice(head + length)
    return {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
      headers: text.slice(0, head),
      body: Buffer.from(text.slice(head, head + length), 'latin1').toString('utf8'),
    }
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
  }
}

/** Sends one message on one connection and returns its response. */
export async function exchange(
  t: TestContext,
  port: number,
  message: string | Uint8Array,
): Promise<{ status: number; headers: string; body: string }> {
  const client = await RawClient.open(t, port)
  client.send(message)
  return client.answer()
}
