import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** What becomes of bytes: they pass, they wait until they may pass again, or they are lost. */
type Way = 'open' | 'held' | 'lost'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/** Stands between a process and the PostgreSQL of the tests, and can part them without either hearing of it. */
export class DatabaseProxy {
  readonly #server = createServer({ allowHalfOpen: false }, (client) => this.#join(client))
  readonly #socket: string
  readonly #url: URL
  readonly #pairs = new Set<Pair>()
  readonly #lost = new Set<Pair>()
  /** Clients that came while bytes were lost, and never hear anything. */
  readonly #unheard = new Set<Socket>()
  #way: Way = 'open'

  private constructor(url: string) {
    // It names no host, which URL wants one of.
    this.#url = new URL(url.replace('@/', '@localhost/'))
    this.#socket = join(this.#url.searchParams.get('host') ?? '', '.s.PGSQL.5432')
  }

  /** Starts one in front of the store at a URL; it is closed when the test ends. */
  static async start(t: TestContext, url: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(url)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => proxy.#close())
    return proxy
  }

  /** The URL of the store by this way. */
  get url(): string {
    const { username, pathname, searchParams } = this.#url
    const { port } = this.#server.address() as AddressInfo
    return `postgres://${username}@127.0.0.1:${port}${pathname}?schema=${searchParams.get('schema') ?? ''}`
  }

  /** From now on nothing passes, either way: it waits, as in a network that comes back before anybody gives up. */
  hold(): void {
    this.#way = 'held'
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  /**
   * From now on all bytes are lost, either way, as by a router that has forgotten its connections: those that there are never
   * carry anything again and stay open, also when later ones pass.
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

  /** Lets bytes pass again: those that wait, and those of new connections. */
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

  /** One that has lost its bytes stays open on the other side. */
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
