import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientBase } from 'pg'
import { clientConfig } from './client-config.ts'
import { sqlState } from './errors.ts'
import type { StoreLocation } from './store-url.ts'

/** Milliseconds without a response before the watch checks whether the database works on it, and between two checks. */
const LOOK_MS = 5000

/** A connection counts as lost when the database does not work for it at so many checks in a row. */
const LOOKS = 2

/** The same while a statement is still being sent: the database works for it only when it has all of it. */
const LOOKS_WHILE_SENDING = 12

interface Asked {
  readonly since: number
  /** Number of checks in a row at which the database did not work for it. */
  misses: number
}

/**
 * Ends connections that no longer get a response: when the network drops packets, neither side need ever notice. To
 * distinguish slow statements from lost ones, it asks the database, on another connection, which connections it works for.
 */
export class ConnectionWatch {
  readonly #location: StoreLocation
  readonly #lookMs: number
  readonly #asked = new Map<ClientBase, Asked>()
  /** Time at which each connection of a pool last received a response. */
  readonly #heard = new Map<ClientBase, number>()
  #looks = false

  constructor(location: StoreLocation, lookMs = LOOK_MS) {
    this.#location = location
    this.#lookMs = lookMs
  }

  /** Registers a connection of a pool, which the pool can replace. */
  pooled(client: ClientBase): void {
    this.#heard.set(client, performance.now())
  }

  /** Notes that a query is sent on a connection. */
  asked(client: ClientBase): void {
    this.#asked.set(client, { since: performance.now(), misses: 0 })
    if (!this.#looks) void this.#lookOften()
  }

  /** Notes that the query has succeeded or failed. */
  answered(client: ClientBase): void {
    this.#asked.delete(client)
    if (this.#heard.has(client)) this.#heard.set(client, performance.now())
  }

  /** Notes that a connection has left its pool. */
  forget(client: ClientBase): void {
    this.#heard.delete(client)
  }

  /** Checks periodically while any query is pending. */
  async #lookOften(): Promise<void> {
    this.#looks = true
    while (this.#asked.size > 0) {
      // Does not keep the process alive.
      await delay(this.#lookMs, undefined, { ref: false })
      await this.#look()
    }
    this.#looks = false
  }

  async #look(): Promise<void> {
    const before = performance.now() - this.#lookMs
    const late = [...this.#asked].filter(([, { since }]) => since <= before)
    if (late.length === 0) return
    const isWorking = await this.#working(late.map(([client]) => pidOf(client)))
    for (const [client, asked] of late) {
      // Answered meanwhile, or asked something else.
      if (this.#asked.get(client) !== asked) continue
      asked.misses = isWorking(pidOf(client)) ? 0 : asked.misses + 1
      if (asked.misses >= (isSending(client) ? LOOKS_WHILE_SENDING : LOOKS)) this.#end(client, asked)
    }
  }

  /** Also ends idle connections of the pool without a response since this query was sent: presumably they were lost too. */
  #end(client: ClientBase, { since }: Asked): void {
    destroy(client)
    for (const [other, heardAt] of this.#heard) {
      if (heardAt <= since && !this.#asked.has(other)) destroy(other)
    }
  }

  /** Returns whether the database works for a process id: always true where it cannot tell, always false where it cannot be reached. */
  async #working(pids: readonly number[]): Promise<(pid: number) => boolean> {
    const client = new Client(clientConfig(this.#location))
    client.on('error', () => undefined)
    // This connection can be lost as well.
    const timer = setTimeout(() => destroy(client), Math.max(this.#lookMs, 1000))
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number; own: boolean }>(
        `SELECT pid, pid = pg_backend_pid() AS own FROM pg_stat_activity
         WHERE pid = pg_backend_pid() OR (pid = ANY($1::integer[]) AND coalesce(state, 'active') NOT LIKE 'idle%')`,
        [pids],
      )
      const busy = new Set(rows.map(({ pid }) => pid))
      // Behind a pooler, process ids do not identify connections.
      return rows.some(({ pid, own }) => own && pid === pidOf(client)) ? (pid) => busy.has(pid) : () => true
    } catch (error) {
      const answered = sqlState(error) !== undefined
      return () => answered
    } finally {
      clearTimeout(timer)
      client.end().catch(() => undefined)
    }
  }
}

interface Insides {
  readonly processID: number
  readonly connection: { readonly stream: { readonly writableLength: number; destroy(): void } }
}

function pidOf(client: ClientBase): number {
  return (client as unknown as Insides).processID
}

/** Whether the operating system has not yet accepted all that was written to a connection, as with a statement of many MiB. */
function isSending(client: ClientBase): boolean {
  return (client as unknown as Insides).connection.stream.writableLength > 0
}

/** Destroys the socket, so that pending queries reject. */
function destroy(client: ClientBase): void {
  ;(client as unknown as Insides).connection.stream.destroy()
}
