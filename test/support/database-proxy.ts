import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** The treatment of bytes: passed on, held back until `pass`, or dropped. */
type Way = 'open' | 'held' | 'lost'

/** The message of PostgreSQL that a transaction is committed ends so. */
const COMMITTED = 'COMMIT\0'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/** A proxy between a process and the PostgreSQL of the tests that can separate them silently. */
export class DatabaseProxy {
  readonly #server = createServer({ allowHalfOpen: false }, (client) => this.#join(client))
  readonly #socket: string
  readonly #url: URL
  readonly #pairs = new Set<Pair>()
  readonly #lost = new Set<Pair>()
  /** Clients that connected while bytes were dropped, and never receive anything. */
  readonly #unheard = new Set<Socket>()
  #way: Way = 'open'

  private constructor(url: string) {
    // The URL of the tests has no host, which URL requires.
    this.#url = new URL(url.replace('@/', '@localhost/'))
    this.#socket = join(this.#url.searchParams.get('host') ?? '', '.s.PGSQL.5432')
  }

  /** Starts a proxy before the store at a URL; it is closed when the test ends. */
  static async start(t: Pick<TestContext, 'after'>, url: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(url)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => proxy.#close())
    return proxy
  }

  /** The URL of the store through the proxy. */
  get url(): string {
    const { username, pathname, searchParams } = this.#url
    const { port } = this.#server.address() as AddressInfo
    return `postgres://${username}@127.0.0.1:${port}${pathname}?schema=${searchParams.get('schema') ?? ''}`
  }

  /** Holds back all bytes from now on, in both directions, as a network does that recovers before a timeout. */
  hold(): void {
    this.#way = 'held'
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  /**
   * Drops all bytes from now on, in both directions, like a router that has lost its connections: the present connections never carry
   * anything again and stay open, even when later ones work.
   */
  lose(): void {
    this.#way = 'lost'
    for (const pair of this.#pairs) {
      this.#lost.add(pair)
      for (const socket of [pair.client, pair.server]) {
        socket.removeAllListeners('data')
        socket.on('data', ignore)
        socket.resume()
      }
    }
    this.#pairs.clear()
  }

  /** Ends each of the present connections when its client next sends something, as one that was lost unnoticed. */
  endWhenUsed(): void {
    for (const { client } of this.#pairs) {
      client.removeAllListeners('data')
      client.once('data', () => client.resetAndDestroy())
    }
  }

  /** Ends all present connections at once, on both sides, as a network does that reports its failure. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  /** Ends each of the present connections when PostgreSQL next reports a commit, so that its client does not know the outcome. */
  cutAtCommit(): void {
    for (const { client, server } of this.#pairs) {
      server.removeAllListeners('data')
      server.on('data', (bytes) => {
        if (!bytes.includes(COMMITTED)) client.write(bytes)
        else client.resetAndDestroy()
      })
    }
  }

  /** Passes bytes on again: those held back, and those of new connections. */
  pass(): void {
    this.#way = 'open'
    for (const { client, server } of this.#pairs) {
      client.resume()
      server.resume()
    }
  }

  #join(client: Socket): void {
    client.on('error', ignore)
    if (this.#way === 'lost') {
      this.#unheard.add(client)
      client.resume()
      return
    }
    const server = connect(this.#socket)
    server.on('error', ignore)
    const pair = { client, server }
    this.#pairs.add(pair)
    client.on('data', (bytes) => server.write(bytes))
    server.on('data', (bytes) => client.write(bytes))
    client.on('close', () => this.#part(pair))
    server.on('close', () => this.#part(pair))
    if (this.#way === 'held') this.hold()
  }

  /** A connection whose bytes were dropped stays open on the other side. */
  #part(pair: Pair): void {
    if (!this.#pairs.delete(pair)) return
    pair.client.destroy()
    pair.server.destroy()
  }

  #close(): void {
    this.#server.close()
    for (const { client, server } of [...this.#pairs, ...this.#lost]) {
      client.destroy()
      server.destroy()
    }
    for (const client of this.#unheard) client.destroy()
  }
}

function ignore(): void {}
