import { queryAbandoned, queryTimeout, tooManyQueries } from '../../rules/sql/sql-errors.ts'
import type { QueryError } from '../../../errors/service-error.ts'
import { StoppingError } from '../../../errors/service-error.ts'
import type { SqlConnection } from './sql-connection.ts'

/** The number of concurrent queries. */
const CONCURRENT = 4

/**
 * Milliseconds after its beginning for which an abandoned request may go on: to finish it costs less than a new connection.
 */
const GRACE_MS = 150

/** The most requests that may wait, and the most characters of their SQL and params, which can be as long as a body. */
const MAX_WAITING = 1000
const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024

/** Milliseconds after which an idle connection is closed. */
const IDLE_MS = 60_000

/** A request for a connection. */
export interface QueuedWork<T> {
  readonly work: (connection: SqlConnection) => Promise<T>
  /** The approximate number of characters in memory while the request waits. */
  readonly characters: number
  readonly signal: AbortSignal | undefined
}

export interface SqlQueueOptions {
  open(): Promise<SqlConnection>
  /** Milliseconds that a request may take after it leaves the queue. */
  readonly timeoutMs: number
  /** Milliseconds that a request may wait. */
  readonly maxWaitMs: number
  readonly graceMs?: number
}

interface Waiting {
  readonly characters: number
  start(): void
  reject(error: unknown): void
}

/** Carries out requests in the order of arrival, a few at a time, each on a connection and within its deadline. */
export class SqlQueue {
  readonly #options: SqlQueueOptions
  readonly #idle: { readonly connection: SqlConnection; readonly timer: NodeJS.Timeout }[] = []
  readonly #waiting: Waiting[] = []
  /** All connections that are not closed. */
  readonly #connections = new Set<SqlConnection>()
  #waitingCharacters = 0
  /** Permits in use, by requests and by connections that cannot be stopped. */
  #permits = 0
  #closed = false

  constructor(options: SqlQueueOptions) {
    this.#options = options
  }

  /** Carries out a request. Throws QueryError at its deadline, and when the queue is full. */
  async run<T>(request: QueuedWork<T>): Promise<T> {
    request.signal?.throwIfAborted()
    await this.#permit(request)
    try {
      return await this.#serve(request)
    } catch (error) {
      throw this.#closed ? closing() : error
    }
  }

  /** Closes all connections. Resolves when they are closed. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waitingCharacters = 0
    for (const { reject } of this.#waiting.splice(0)) reject(closing())
    for (const { connection, timer } of this.#idle.splice(0)) {
      clearTimeout(timer)
      void connection.close()
    }
    const connections = [...this.#connections]
    await Promise.all(connections.map((connection) => connection.stop(closing())))
    for (const connection of connections) connection.drop()
    await Promise.all(connections.map(({ ended }) => ended))
  }

  /** Waits for a permit. */
  #permit({ characters, signal }: QueuedWork<unknown>): Promise<void> {
    if (this.#closed) throw closing()
    if (this.#permits < CONCURRENT && this.#waiting.length === 0) {
      this.#permits += 1
      return Promise.resolve()
    }
    // The first in the queue may have any length; otherwise it could never run.
    const tooLong = this.#waiting.length > 0 && this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS
    if (tooLong || this.#waiting.length >= MAX_WAITING) throw tooManyQueries()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { characters, start: resolve, reject }
    const giveUp = (error: unknown): void => {
      this.#dequeue(waiting)
      reject(error)
    }
    const abort = (): void => giveUp(signal?.reason)
    const timer = setTimeout(() => giveUp(tooManyQueries()), this.#options.maxWaitMs)
    signal?.addEventListener('abort', abort, { once: true })
    this.#waiting.push(waiting)
    this.#waitingCharacters += characters
    return promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  }

  /** Removes a request from the queue, if it is there. */
  #dequeue(waiting: Waiting): void {
    const place = this.#waiting.indexOf(waiting)
    if (place < 0) return
    this.#waiting.splice(place, 1)
    this.#waitingCharacters -= waiting.characters
  }

  #releasePermit(): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#permits -= 1
      return
    }
    this.#waitingCharacters -= next.characters
    next.start()
  }

  async #serve<T>({ work, signal }: QueuedWork<T>): Promise<T> {
    let connection: SqlConnection
    try {
      connection = await this.#connection()
    } catch (error) {
      this.#releasePermit()
      throw error
    }
    const { timeoutMs, graceMs = GRACE_MS } = this.#options
    const since = performance.now()
    const stopAfter = (ms: number, reason: QueryError): NodeJS.Timeout =>
      setTimeout(() => void connection.stop(reason), ms)
    let timer = stopAfter(timeoutMs, queryTimeout(timeoutMs))
    const given = Promise.withResolvers<never>()
    const abort = (): void => {
      clearTimeout(timer)
      const left = Math.min(graceMs, timeoutMs) - (performance.now() - since)
      timer = stopAfter(Math.max(0, left), queryAbandoned())
      given.reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted === true) abort()
    const done = work(connection)
    void done
      .catch(() => undefined)
      .then(() => connection.rest())
      .then(() => {
        clearTimeout(timer)
        return this.#free(connection)
      })
    try {
      return await Promise.race([done, given.promise])
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #connection(): Promise<SqlConnection> {
    for (let rested = this.#idle.pop(); rested !== undefined; rested = this.#idle.pop()) {
      clearTimeout(rested.timer)
      if (rested.connection.usable) return rested.connection
    }
    const connection = await this.#options.open()
    this.#connections.add(connection)
    void connection.ended.then(() => this.#connections.delete(connection))
    if (!this.#closed) return connection
    await connection.close()
    throw closing()
  }

  /** Frees the permit of a connection at rest: a query that cannot be stopped keeps its permit. */
  async #free(connection: SqlConnection): Promise<void> {
    if (connection.usable && !this.#closed) {
      const timer = setTimeout(() => void this.#retire(connection), IDLE_MS)
      timer.unref()
      this.#idle.push({ connection, timer })
    } else {
      await connection.ended
    }
    this.#releasePermit()
  }

  async #retire(connection: SqlConnection): Promise<void> {
    const place = this.#idle.findIndex((each) => each.connection === connection)
    if (place < 0) return
    this.#idle.splice(place, 1)
    await connection.close()
  }
}

function closing(): StoppingError {
  return new StoppingError('the sheet is being closed')
}
