import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientBase } from 'pg'
import { clientConfig } from './client-config.ts'
import { sqlState } from './errors.ts'
import type { StoreLocation } from './store-url.ts'

/** How long an answer is waited for before it is looked whether the database still works on it, and until the next look. */
const LOOK_MS = 5000

/** A connection that the database does not work for at so many looks in a row is one no more. */
const LOOKS = 2

/** The same while a statement is still being sent: until it has all of it, the database does not work for it. */
const LOOKS_WHILE_SENDING = 12

interface Asked {
  readonly since: number
  /** At how many looks the database did not work for it. */
  misses: number
}

/**
 * Ends connections that nobody answers on: when the network loses what is sent, neither side need ever hear of it. Slow
 * statements are told from lost ones by asking the database, on another connection, who it works for.
 */
export class ConnectionWatch {
  readonly #location: StoreLocation
  readonly #lookMs: number
  readonly #asked = new Map<ClientBase, Asked>()
  /** When each connection of a pool was last heard of. */
  readonly #heard = new Map<ClientBase, number>()
  #looks = false

  constructor(location: StoreLocation, lookMs = LOOK_MS) {
    this.#location = location
    this.#lookMs = lookMs
  }

  /** A pool has a connection, which it can do without. */
  pooled(client: ClientBase): void {
    this.#heard.set(client, performance.now())
  }

  /** A connection is asked something. */
  asked(client: ClientBase): void {
    this.#asked.set(client, { since: performance.now(), misses: 0 })
    if (!this.#looks) void this.#lookOften()
  }

  /** It has answered, or failed. */
  answered(client: ClientBase): void {
    this.#asked.delete(client)
    if (this.#heard.has(client)) this.#heard.set(client, performance.now())
  }

  /** It is gone from its pool. */
  forget(client: ClientBase): void {
    this.#heard.delete(client)
  }

  /** As long as anything is asked. */
  async #lookOften(): Promise<void> {
    this.#looks = true
    while (this.#asked.size > 0) {
      // It keeps no process from ending.
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

  /** Those of a pool that are idle, and were last heard of before this one was asked, went the same way, as far as anybody knows. */
  #end(client: ClientBase, { since }: Asked): void {
    destroy(client)
    for (const [other, heardAt] of this.#heard) {
      if (heardAt <= since && !this.#asked.has(other)) destroy(other)
    }
  }

  /** For which of these connections the database works, by their process ids; for none when it cannot be asked. */
  async #working(pids: readonly number[]): Promise<(pid: number) => boolean> {
    const client = new Client(clientConfig(this.#location))
    client.on('error', () => undefined)
    // What it is asked can be lost as well.
    const timer = setTimeout(() => destroy(client), Math.max(this.#lookMs, 1000))
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number; own: boolean }>(
        `SELECT pid, pid = pg_backend_pid() AS own FROM pg_stat_activity
         WHERE pid = pg_backend_pid() OR (pid = ANY($1::integer[]) AND coalesce(state, 'active') NOT LIKE 'idle%')`,
        [pids],
      )
      const busy = new Set(rows.map(({ pid }) => pid))
      // Behind something that shares connections out, nobody knows whose process is whose.
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

/** Whether the system has not yet taken all that was written to a connection, as of a statement of many MiB. */
function isSending(client: ClientBase): boolean {
  return (client as unknown as Insides).connection.stream.writableLength > 0
}

/** Whoever waits for an answer hears that the connection is lost. */
function destroy(client: ClientBase): void {
  ;(client as unknown as Insides).connection.stream.destroy()
}
