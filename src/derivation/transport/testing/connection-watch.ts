import { Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Test support: the connections that this process attempts, by any client, with TLS or without. */
export interface ConnectionWatch {
  /** Sockets that were asked to connect, before any name is resolved. */
  readonly sockets: () => number
  /** The addresses of attempted connections, in order. */
  readonly attempts: readonly string[]
}

/** Watches until the test ends. A connection that would leave this machine fails the test before it is attempted. */
export function watchConnections(t: TestContext): ConnectionWatch {
  let sockets = 0
  const attempts: string[] = []
  const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket
  const onAttempt = (address: string): void => {
    attempts.push(address)
    // Node.js reports the attempt before it calls the system.
    if (!/^(?:127\.|::1$)/.test(address)) throw new Error(`a connection to ${address} was tried`)
  }
  t.mock.method(Socket.prototype, 'connect', function watched(this: Socket, ...args: unknown[]): Socket {
    sockets += 1
    this.on('connectionAttempt', onAttempt)
    return connect.apply(this, args)
  })
  return { sockets: () => sockets, attempts }
}
