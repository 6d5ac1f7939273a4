import { Database } from '../../src/store/postgres/database/database.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { ColophonProcess } from '../../test/support/colophon-process.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { DatabaseProxy } from '../../test/support/database-proxy.ts'
import { placeOnEngine, type Engine } from '../../test/support/engine.ts'
import { writeSheet } from '../../test/support/sheet-fixture.ts'
import type { Scope } from '../support/scope.ts'

const CONTRACT = contractText(['{name: a, logicalType: integer}', '{name: b, logicalType: integer}'])

/** The servers of a sheet on each engine. On SQLite they share its directory. */
const SERVERS: Readonly<Record<Engine, number>> = { sqlite: 2, postgres: 3 }

/** A server of the sheet, with one process after the other. */
export class Server {
  /** Whether something is being done to it. */
  isStruck = false
  /** Its connections to PostgreSQL; null on SQLite. */
  readonly proxy: DatabaseProxy | null
  readonly name: string
  readonly #scope: Scope
  readonly #arguments: readonly string[]
  #process: ColophonProcess | null = null
  #port: number | null = null

  constructor(scope: Scope, name: string, place: string, proxy: DatabaseProxy | null) {
    this.#scope = scope
    this.name = name
    this.proxy = proxy
    this.#arguments = [
      'serve',
      ...(proxy === null ? [place] : ['--store', proxy.url]),
      '--port',
      '0',
      '--log-level',
      'error',
    ]
  }

  /** The port at which it listens; null while it does not run. */
  get port(): number | null {
    return this.#port
  }

  /** Starts its process, again and again where it cannot start, as a supervisor does. */
  async start(): Promise<void> {
    for (let tries = 1; this.#port === null; tries += 1) {
      this.#process = new ColophonProcess(this.#scope, this.#arguments, { env: { PGAPPNAME: this.name } })
      try {
        this.#port = await this.#process.port()
      } catch (error) {
        if (tries === 10) throw error
      }
    }
  }

  /** Ends its process by a signal and waits for its end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (signal === 'SIGKILL') this.#port = null
    this.#process?.kill(signal)
    await this.#process?.end()
    this.#port = null
  }

  halt(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }
}

/** A sheet and its servers. */
export interface Served {
  readonly servers: readonly Server[]
  /** The store on PostgreSQL, on connections of its own; null on SQLite. */
  readonly store: Database | null
}

/** Creates an empty sheet with two numbers, `a` and `b`, and starts its servers. */
export async function serveSheet(engine: Engine, scope: Scope): Promise<Served> {
  const directory = await writeSheet(scope, { contract: CONTRACT, records: [], derivations: {} })
  const place = await placeOnEngine(directory)
  const servers = await Promise.all(
    Array.from({ length: SERVERS[engine] }, async (_, index) => {
      const proxy = engine === 'postgres' ? await DatabaseProxy.start(scope, place) : null
      const server = new Server(scope, `server-${index + 1}`, place, proxy)
      await server.start()
      return server
    }),
  )
  const store = engine === 'postgres' ? new Database(parseStoreUrl(place)) : null
  if (store !== null) scope.after(() => store.close())
  return { servers, store }
}
