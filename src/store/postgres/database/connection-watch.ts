import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientBase } from 'pg'
import { clientConfig } from './client-config.ts'
import { sqlState } from './errors.ts'
import type { StoreLocation } from './store-url.ts'

/** Milliseconds without a response before the watch checks whether the database works on it, and between two checks. */
const CHECK_MS = 5000

/** A connection counts as lost when the database does not work for it at so many checks in a row. */
const CHECKS = 2

/** The same while a statement is still being sent: the database works for it only when it has all of it. */
const CHECKS_WHILE_SENDING = 12

interface PendingQuery {
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
  readonly #checkMs: number
  readonly #pending = new Map<ClientBase, PendingQuery>()
  /** Time at which each connection of a pool last received a response. */
  readonly #lastResponse = new Map<ClientBase, number>()
  #isChecking = false

  constructor(location: StoreLocation, checkMs = CHECK_MS) {
    this.#location = location
    this.#checkMs = checkMs
  }

  /** Registers a connection of a pool, which the pool can replace. */
  pooled(client: ClientBase): void {
    this.#lastResponse.set(client, performance.now())
  }

  /** Notes that a query is sent on a connection. */
  started(client: ClientBase): void {
    this.#pending.set(client, { since: performance.now(), misses: 0 })
    if (!this.#isChecking) void this.#checkRepeatedly()
  }

  /** Notes that the query has succeeded or failed. */
  ended(client: ClientBase): void {
    this.#pending.delete(client)
    if (this.#lastResponse.has(client)) this.#lastResponse.set(client, performance.now())
  }

  /** Notes that a connection has left its pool. */
  forget(client: ClientBase): void {
    this.#lastResponse.delete(client)
  }

  /** Checks periodically while any query is pending. */
  async #checkRepeatedly(): Promise<void> {
    this.#isChecking = true
    while (this.#pending.size > 0) {
      // Does not keep the process alive.
      await delay(this.#checkMs, undefined, { ref: false })
      await this.#check()
    }
    this.#isChecking = false
  }

  async #check(): Promise<void> {
    const before = performance.now() - this.#checkMs
    const late = [...this.#pending].filter(([, { since }]) => since <= before)
    if (late.length === 0) return
    const isWorking = await this.#working(late.map(([client]) => pidOf(client)))
    for (const [client, query] of late) {
      // Its query has ended meanwhile.
      if (this.#pending.get(client) !== query) continue
      query.misses = isWorking(pidOf(client)) ? 0 : query.misses + 1
      if (query.misses >= (isSending(client) ? CHECKS_WHILE_SENDING : CHECKS)) this.#end(client, query)
    }
  }

  /** Also ends idle connections of the pool without a response since this query was sent: presumably they were lost too. */
  #end(client: ClientBase, { since }: PendingQuery): void {
    destroy(client)
    for (const [other, lastResponse] of this.#lastResponse) {
      if (lastResponse <= since && !this.#pending.has(other)) destroy(other)
    }
  }

  /**
   * Returns whether the database works for a process id: always true where it cannot tell, always false where it cannot be
   * reached.
   */
  async #working(pids: readonly number[]): Promise<(pid: number) => boolean> {
    const client = new Client(clientConfig(this.#location))
    client.on('error', () => undefined)
    // This connection can be lost as well.
    const timer = setTimeout(() => destroy(client), Math.max(this.#checkMs, 1000))
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

interface Internals {
  readonly processID: number
  readonly connection: { readonly stream: { readonly writableLength: number; destroy(): void } }
}

function pidOf(client: ClientBase): number {
  return (client as unknown as Internals).processID
}

/** Whether the operating system has not yet accepted all that was written to a connection, as with a statement of many MiB. */
function isSending(client: ClientBase): boolean {
  return (client as unknown as Internals).connection.stream.writableLength > 0
}

/** Destroys the socket, so that pending queries reject. */
function destroy(client: ClientBase): void {
  ;(client as unknown as Internals).connection.stream.destroy()
}
