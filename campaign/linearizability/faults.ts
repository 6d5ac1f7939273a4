import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_MS } from '../../src/store/run-tasks.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import type { Engine } from '../../test/support/engine.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Served, Server } from './servers.ts'

/** A fault of a server or of PostgreSQL, and its end. */
interface Fault {
  readonly name: string
  /** Its share of all faults, in relation to the weights of others. */
  readonly weight: number
  readonly engines: readonly Engine[]
  readonly strike: (server: Server, served: Served, random: Random) => Promise<void>
}

const BOTH = ['sqlite', 'postgres'] as const

/** Milliseconds of a fault that ends before others do without the process, and of one that they do not wait for. */
const BRIEF_MS = [50, 700] as const
const LONG_MS = LEASE_MS + 1500

const FAULTS: readonly Fault[] = [
  { name: 'kill', weight: 6, engines: BOTH, strike: (server) => restart(server, 'SIGKILL') },
  { name: 'stop', weight: 2, engines: BOTH, strike: (server) => restart(server, 'SIGTERM') },
  { name: 'halt', weight: 6, engines: BOTH, strike: (server, _, random) => halt(server, brief(random)) },
  { name: 'halt for long', weight: 0.5, engines: BOTH, strike: (server) => halt(server, LONG_MS) },
  { name: 'cut', weight: 6, engines: ['postgres'], strike: cut },
  { name: 'cut at a commit', weight: 6, engines: ['postgres'], strike: cutAtCommit },
  {
    name: 'hold',
    weight: 4,
    engines: ['postgres'],
    strike: (server, _, random) => hold(server, brief(random)),
  },
  { name: 'hold for long', weight: 0.5, engines: ['postgres'], strike: (server) => hold(server, LONG_MS) },
  { name: 'lose', weight: 0.5, engines: ['postgres'], strike: lose },
  { name: 'terminate', weight: 4, engines: ['postgres'], strike: terminate },
  { name: 'restart the database', weight: 1, engines: ['postgres'], strike: () => restartDatabase('fast') },
  { name: 'crash the database', weight: 2, engines: ['postgres'], strike: () => restartDatabase('crash') },
]

/** Strikes one server after the other, and PostgreSQL. */
export class Faults {
  readonly #served: Served
  readonly #random: Random
  readonly #faults: readonly Fault[]
  readonly #underWay = new Set<Promise<void>>()
  #error: unknown

  constructor(served: Served, engine: Engine, random: Random) {
    this.#served = served
    this.#random = random
    this.#faults = FAULTS.filter(({ engines }) => engines.includes(engine))
  }

  /** Begins a fault of one of these servers that has none; returns its name, or null when there is no such server. */
  next(servers: readonly Server[]): string | null {
    const free = servers.filter(({ isStruck }) => !isStruck)
    if (free.length === 0) return null
    const server = this.#random.pick(free)
    const fault = this.#choose()
    server.isStruck = true
    const over = fault
      .strike(server, this.#served, this.#random)
      .catch((error: unknown) => {
        this.#error ??= error
      })
      .finally(() => {
        server.isStruck = false
        this.#underWay.delete(over)
      })
    this.#underWay.add(over)
    return `${fault.name} (${server.name})`
  }

  /** Waits until no fault is under way. Throws where a server did not start again. */
  async end(): Promise<void> {
    await Promise.all(this.#underWay)
    this.check()
  }

  /** Throws where a server did not start again. */
  check(): void {
    if (this.#error !== undefined) throw this.#error
  }

  #choose(): Fault {
    const sum = this.#faults.reduce((all, { weight }) => all + weight, 0)
    let left = (this.#random.below(1000) / 1000) * sum
    return this.#faults.find(({ weight }) => (left -= weight) < 0) ?? this.#faults[0]!
  }
}

async function restart(server: Server, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  await server.end(signal)
  await server.start()
}

async function halt(server: Server, ms: number): Promise<void> {
  server.halt()
  await sleep(ms)
  server.resume()
}

async function hold({ proxy }: Server, ms: number): Promise<void> {
  proxy?.hold()
  await sleep(ms)
  proxy?.pass()
}

/** Drops all bytes for a moment: connections of before stay silent until the server gives them up. */
async function lose({ proxy }: Server): Promise<void> {
  proxy?.lose()
  await sleep(LONG_MS)
  proxy?.pass()
}

function cut({ proxy }: Server): Promise<void> {
  proxy?.cut()
  return Promise.resolve()
}

function cutAtCommit({ proxy }: Server): Promise<void> {
  proxy?.cutAtCommit()
  return Promise.resolve()
}

/** Has PostgreSQL end the connections of a server. */
async function terminate({ name }: Server, { store }: Served): Promise<void> {
  const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1'
  // The database may be away.
  await store?.all(sql, name).catch(() => undefined)
}

let databaseRestarts: Promise<void> = Promise.resolve()

/** Restarts PostgreSQL; one restart after the other. */
function restartDatabase(how: 'fast' | 'crash'): Promise<void> {
  databaseRestarts = restartAfter(databaseRestarts, how)
  return databaseRestarts
}

async function restartAfter(others: Promise<void>, how: 'fast' | 'crash'): Promise<void> {
  await others
  const postgres = await startPostgres()
  await postgres.stop(how)
  await postgres.start()
}

function brief(random: Random): number {
  return BRIEF_MS[0] + random.below(BRIEF_MS[1] - BRIEF_MS[0])
}
