import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { ClientConnection } from './connection.ts'
import type { Database } from './database.ts'
import { quoted } from './schema.ts'
import { socketOf } from './store-client.ts'

/** A connection that has had nothing to tell for so long is asked whether it is still one. */
const CHECK_MS = 10_000

/** How long it may take to answer. */
const ANSWER_MS = 10_000

const FIRST_DELAY_MS = 50
const LONGEST_DELAY_MS = 10_000

export interface NotificationOptions {
  readonly database: Database
  readonly channel: string
  /**
   * Called whenever there may be news: when a connection has been made, after notifications, however many, and every now and
   * then, one call after the other. When it rejects, the connection is made anew.
   */
  onNews(db: ClientConnection): Promise<void>
  /** Called for each notification, before that, with what it says. */
  onNotification?(payload: string): void
}

/** The name under which listeners of a sheet hear of something. A schema's own name can be too long for one. */
export function channelOf(topic: string, schema: string): string {
  return `colophon_${topic}_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

/**
 * Listens to notifications of PostgreSQL, on a connection of its own, which is made again whenever it is lost. Nobody is told
 * of what is sent while there is none; that is why whoever listens reads when there is one again.
 */
export class Notifications {
  readonly #options: NotificationOptions
  #ending: Promise<void> | null = null
  #client: Client | null = null
  #closed = false
  #failures = 0
  #wake: () => void = ignore
  #look: () => void = ignore

  constructor(options: NotificationOptions) {
    this.#options = options
  }

  /** Begins to listen, unless it has already. */
  start(): void {
    if (!this.#closed) this.#ending ??= this.#listen()
  }

  /** Has `onNews` called soon, if there is a connection; else it is called when there is one. */
  look(): void {
    this.#look()
  }

  /** Lets go of the connection. */
  async close(): Promise<void> {
    this.#closed = true
    this.#wake()
    // An attempt to connect takes as long as it takes, and comes to nothing.
    if (this.#client !== null) await this.#ending
  }

  async #listen(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#listenOnce()
      } catch {
        // The next connection may do better; meanwhile whoever asks the database for anything is told what is wrong.
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
      this.#look = ignore
      await within(client.end().catch(() => undefined)).catch(() => undefined)
      socketOf(client).destroy()
    }
  }

  async #follow(client: Client): Promise<void> {
    const { channel, onNews, onNotification = ignore } = this.#options
    const db = new ClientConnection(client)
    const state = { news: false, ended: false }
    this.#look = () => {
      state.news = true
      this.#wake()
    }
    client.on('notification', ({ payload = '' }) => {
      onNotification(payload)
      this.#look()
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

  /** Waits until it is woken, or for so long. */
  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }
}

function ignore(): void {}

/** Rejects when the database has not answered in time: a connection can be gone without a word. */
async function within<T>(answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the database does not answer')), ANSWER_MS)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
