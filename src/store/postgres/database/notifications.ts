import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { ClientConnection } from './connection.ts'
import type { Database } from './database.ts'
import { quoted } from './schema.ts'
import { socketOf } from './store-client.ts'

/** Milliseconds without a notification after which the connection is checked. */
const CHECK_MS = 10_000

/** Milliseconds that the check may take. */
const RESPONSE_MS = 10_000

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 10_000

export interface NotificationOptions {
  readonly database: Database
  readonly channel: string
  /**
   * Called when there may be news: when a connection has been made, after one or more notifications, and periodically; one
   * call at a time. When it rejects, the connection is replaced.
   */
  onNews(db: ClientConnection): Promise<void>
  /** Called for each notification, before `onNews`, with its payload. */
  onNotification?(payload: string): void
}

/** Returns the channel of a topic of a sheet. The name of a schema can be too long for a channel. */
export function channelOf(topic: string, schema: string): string {
  return `colophon_${topic}_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

/**
 * Listens for notifications of PostgreSQL, on a separate connection, which is replaced whenever it is lost. Notifications
 * that are sent meanwhile are lost; so listeners read after each connect.
 */
export class Notifications {
  readonly #options: NotificationOptions
  #ending: Promise<void> | null = null
  #client: Client | null = null
  #closed = false
  #failures = 0
  #wake: () => void = ignore
  #poll: () => void = ignore

  constructor(options: NotificationOptions) {
    this.#options = options
  }

  /** Starts listening, unless it has started. */
  start(): void {
    if (!this.#closed) this.#ending ??= this.#listen()
  }

  /** Requests a call of `onNews`, now or when there is a connection. */
  poll(): void {
    this.#poll()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#wake()
    // An attempt to connect cannot be cancelled, and its connection is closed.
    if (this.#client !== null) await this.#ending
  }

  async #listen(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#listenOnce()
      } catch {
        // The next connection may succeed; meanwhile queries report what is wrong.
      }
      if (!this.#closed) await this.#sleep(Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS))
      this.#failures = Math.min(this.#failures + 1, 20)
    }
  }

  async #listenOnce(): Promise<void> {
    const client = await this.#options.database.dedicated()
    this.#client = client
    try {
      await this.#follow(client)
    } finally {
      this.#client = null
      this.#poll = ignore
      await within(client.end().catch(() => undefined)).catch(() => undefined)
      socketOf(client).destroy()
    }
  }

  async #follow(client: Client): Promise<void> {
    const { channel, onNews, onNotification = ignore } = this.#options
    const db = new ClientConnection(client)
    const state = { news: false, ended: false }
    this.#poll = () => {
      state.news = true
      this.#wake()
    }
    client.on('notification', ({ payload = '' }) => {
      onNotification(payload)
      this.#poll()
    })
    client.on('end', () => {
      state.ended = true
      this.#wake()
    })
    await within(db.exec(`LISTEN ${quoted(channel)}`))
    while (!state.ended && !this.#closed) {
      state.news = false
      await within(onNews(db))
      this.#failures = 0
      if (!state.news && !state.ended && !this.#closed) await this.#sleep(CHECK_MS)
    }
  }

  /** Waits until {@link poll} is called, or for so many milliseconds. */
  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }
}

function ignore(): void {}

/** Rejects when the database has not responded in time: a connection can be lost without notice. */
async function within<T>(response: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the database does not answer')), RESPONSE_MS)
  try {
    return await Promise.race([response, late])
  } finally {
    clearTimeout(timer)
  }
}
