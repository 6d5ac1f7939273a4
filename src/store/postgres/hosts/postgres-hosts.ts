import { randomUUID } from 'node:crypto'
import type { HostListener, HostShare, SharedHosts } from '../../shared-hosts.ts'
import type { ClientConnection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { PostgresHostShare } from './host-share.ts'
import { leaveAll } from './host-table.ts'
import { channelOf, Notifications } from '../database/notifications.ts'

/**
 * The shares of this process in the calls to hosts. Queries run one at a time on a single connection, which also listens
 * for notifications; what becomes due meanwhile is handled together. The connection is made for the first call, and
 * replaced when it is lost.
 */
export class PostgresHosts implements SharedHosts {
  readonly #database: Database
  readonly #notifications: Notifications
  readonly #channel: string
  readonly #holder = randomUUID()
  readonly #shares = new Set<PostgresHostShare>()
  /** The connection on which `synchronous_commit` was turned off. */
  #connection: ClientConnection | null = null
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(database: Database) {
    this.#database = database
    this.#channel = channelOf('hosts', database.location.schema)
    this.#notifications = new Notifications({
      database,
      channel: this.#channel,
      onNews: (db) => this.#runQueries(db),
      onNotification: (payload) => this.#onNotification(payload),
    })
  }

  join(origin: string, listener: HostListener): HostShare {
    const share = new PostgresHostShare(origin, listener, {
      holder: this.#holder,
      schedule: () => this.#notifications.poll(),
      notify: (db, host) => this.#notify(db, host),
      remove: () => this.#shares.delete(share),
    })
    this.#shares.add(share)
    this.#notifications.start()
    return share
  }

  /** Returns all permits if the store can be reached; otherwise they lapse. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const holds = [...this.#shares].some((share) => share.isHeld)
    for (const share of this.#shares) share.close()
    await this.#notifications.close()
    if (holds) await leaveAll(this.#database, this.#holder).catch(() => undefined)
  }

  async #runQueries(db: ClientConnection): Promise<void> {
    clearTimeout(this.#timer)
    if (db !== this.#connection) await db.exec('SET synchronous_commit = off')
    this.#connection = db
    const due = [...this.#shares].filter((share) => share.dueAt <= performance.now())
    for (const share of due) await share.runQueries(db)
    // Checks the connection.
    if (due.length === 0) await db.exec('SELECT 1')
    const next = Math.min(...[...this.#shares].map((share) => share.dueAt))
    if (next === Infinity || this.#closed) return
    this.#timer = setTimeout(() => this.#notifications.poll(), Math.max(0, next - performance.now()))
  }

  #onNotification(payload: string): void {
    const [host, holder] = payload.split(' ')
    if (holder === this.#holder) return
    for (const share of this.#shares) if (String(share.host) === host) share.renewIfActive()
  }

  /** The payload contains no origin, since any user of the database can listen. */
  async #notify(db: ClientConnection, host: number): Promise<void> {
    await db.get('SELECT pg_notify($1, $2)::text', this.#channel, `${host} ${this.#holder}`)
  }
}
