import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** Stands before a server, and lets everything pass but, for as long as it is told to, the streams of runs. */
export class StreamCutter {
  readonly url: string
  readonly #streams = new Set<ServerResponse>()
  #isCut = false

  private constructor(url: string) {
    this.url = url
  }

  /** Passes on to the server on a port of this machine; it ends with the test. */
  static async before(t: TestContext, port: number): Promise<StreamCutter> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port: own } = server.address() as AddressInfo
    const cutter = new StreamCutter(`http://127.0.0.1:${own}`)
    server.on('request', (incoming, outgoing) => cutter.#pass(incoming, outgoing, port))
    onEnd(t, () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return cutter
  }

  /** Breaks the streams of runs, and those that are asked for from now on. */
  cut(): void {
    this.#isCut = true
    for (const stream of this.#streams) stream.destroy()
  }

  /** Lets them pass again. */
  mend(): void {
    this.#isCut = false
  }

  /** How many streams of runs are open. */
  get streams(): number {
    return this.#streams.size
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
    const { method, url = '/', headers } = incoming
    const isStream = /^\/api\/runs\/\d+\/events$/.test(url)
    if (isStream && this.#isCut) {
      incoming.destroy()
      return
    }
    if (isStream) this.#streams.add(outgoing)
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers })
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => {
      this.#streams.delete(outgoing)
      onward.destroy()
    })
    incoming.pipe(onward)
  }
}
