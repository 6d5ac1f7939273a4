import { Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Test support: what this process does to connect to others, by whatever client, with TLS or without. */
export interface ConnectionWatch {
  /** Sockets that were told to connect, before any name is looked up for them. */
  readonly sockets: () => number
  /** The addresses that a connection was tried to, in order. */
  readonly attempts: readonly string[]
}

/** Watches until the test ends. A connection that would leave this machine breaks the test before it is tried. */
export function watchConnections(t: TestContext): ConnectionWatch {
  let sockets = 0
  const attempts: string[] = []
  const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket
  const onAttempt = (address: string): void => {
    attempts.push(address)
    // Node.js tells of the attempt before it asks the system.
    if (!/^(?:127\.|::1$)/.test(address)) throw new Error(`a connection to ${address} was tried`)
  }
  t.mock.method(Socket.prototype, 'connect', function watched(this: Socket, ...args: unknown[]): Socket {
    sockets += 1
    this.on('connectionAttempt', onAttempt)
    return connect.apply(this, args)
  })
  return { sockets: () => sockets, attempts }
}
