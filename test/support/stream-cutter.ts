import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** A proxy before a server that passes everything, except streams of runs while they are cut. */
export class StreamCutter {
  readonly url: string
  readonly #streams = new Set<ServerResponse>()
  #isCut = false

  private constructor(url: string) {
    this.url = url
  }

  /** Passes requests on to a local server on a port; it ends with the test. */
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

  /** Closes the streams of runs, present and new ones. */
  cut(): void {
    this.#isCut = true
    for (const stream of this.#streams) stream.destroy()
  }

  /** Passes them again. */
  mend(): void {
    this.#isCut = false
  }

  /** The number of open streams of runs. */
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
