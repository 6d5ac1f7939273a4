import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'
import { CANARY } from './page-attacks.ts'

/** Starts a server on a free port of 127.0.0.1 until the test ends. */
export async function startServer(
  t: TestContext,
  listener: RequestListener,
): Promise<{ server: Server; port: number }> {
  const server = createServer(listener)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  onEnd(t, () => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Serves an empty page everywhere, at `/sandboxed` one with an opaque origin, and redirects at `/redirect?<address>`. */
export const servePages: RequestListener = (request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/)
  if (path === '/redirect') {
    response.writeHead(307, { location: query }).end()
    return
  }
  response.setHeader('content-type', 'text/html')
  if (path === '/sandboxed')
    response.setHeader('content-security-policy', 'sandbox allow-scripts allow-forms allow-popups')
  response.end('<!doctype html><title>A page</title><body></body>')
}

/** A server without any protection, which proves that the attacks work. */
export const serveCarelessly: RequestListener = (request, response) => {
  const { origin, 'access-control-request-headers': headers } = request.headers
  response.setHeader('access-control-allow-origin', origin ?? '*')
  response.setHeader('access-control-allow-credentials', 'true')
  response.setHeader('access-control-allow-headers', headers ?? '')
  response.setHeader('access-control-allow-methods', 'DELETE')
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${CANARY}\n\n`)
    return
  }
  request.resume()
  request.on('end', () => response.setHeader('content-type', 'text/javascript').end(JSON.stringify(CANARY)))
}

/** A request that a server received. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly site: string | string[] | undefined
  readonly cookie: string | undefined
  /** Null until the response. */
  status: number | null
}

/** Records the requests and responses of a server. */
export class RequestLog {
  readonly seen: SeenRequest[] = []
  #wake: () => void = () => undefined

  constructor(server: Server) {
    server.on('request', ({ method = '', url: path = '', headers }, response) => {
      const { host, origin, cookie, 'sec-fetch-site': site } = headers
      const one: SeenRequest = { method, path, host, origin, site, cookie, status: null }
      this.seen.push(one)
      response.on('close', () => {
        one.status = response.statusCode
        this.#wake()
      })
    })
  }

  /** Waits until this many matching requests have their responses. */
  async answered(count: number, counts: (request: SeenRequest) => boolean): Promise<void> {
    while (this.seen.filter((request) => request.status !== null && counts(request)).length < count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}
