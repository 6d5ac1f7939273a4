import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** Test support: a local server in place of the host of a call. */
export interface LocalServer {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  readonly port: number
  /** Connections accepted so far. */
  readonly connections: () => number
  close(): Promise<void>
}

/** Starts an HTTP server. */
export function startHttp(listener: RequestListener): Promise<LocalServer> {
  return start(createHttpServer(listener))
}

/** Starts a server that may send any bytes. */
export function startTcp(listener: (socket: Socket) => void): Promise<LocalServer> {
  return start(createTcpServer(listener))
}

async function start(server: Server): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    // A client that disconnects early appears here as a reset, which the server ignores.
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
