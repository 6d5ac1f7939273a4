import type { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Database } from '../database/database.ts'
import { socketOf } from '../database/store-client.ts'
import { FrameWatch } from './message-watch.ts'
import { resultTooLarge } from '../../rules/sql-errors.ts'
import { rowTooLarge } from './sql-result.ts'
import { MAX_RECEIVED_BYTES, MAX_ROW_BYTES } from './sql-limits.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { SqlSession } from './sql-session.ts'

/**
 * A query that was told to stop is ended with its connection after so many milliseconds. Within one expression, such as a
 * thousand products of numbers with a hundred thousand digits, PostgreSQL hears of neither.
 */
const STOP_MS = 1000

/** What a connection is to do. */
export interface SqlWork<T> {
  /** The role that SQL from a user runs as. */
  readonly role: string
  /** A row may be this long. */
  readonly rowBytes: number
  readonly work: (session: SqlSession) => Promise<T>
}

/**
 * A connection for SQL from users: one request at a time. It can be stopped at any moment, and is of no use afterwards.
 */
export class SqlConnection {
  /** Resolves when the database has let go of it. */
  readonly ended: Promise<void>
  readonly #client: Client
  readonly #pid: number
  readonly #database: Database
  readonly #stopped = Promise.withResolvers<never>()
  #usable = true
  #received = 0
  #rowBytes = MAX_ROW_BYTES
  #settled: Promise<unknown> = Promise.resolve()

  private constructor(client: Client, pid: number, database: Database) {
    this.#client = client
    this.#pid = pid
    this.#database = database
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#stopped.promise.catch(() => undefined)
    client.on('end', () => {
      this.#usable = false
      resolve()
    })
    const watch = new FrameWatch((bytes) => this.#count(bytes))
    socketOf(client).on('data', (bytes: Buffer) => watch.push(bytes))
  }

  /** Opens one. Throws RecordsError. */
  static async open(database: Database, limits: QueryLimits): Promise<SqlConnection> {
    const client = await database.dedicated()
    try {
      const { rows } = await client.query<{ pid: number; encoding: string }>({
        text: `SELECT pg_backend_pid() AS pid, current_setting('server_encoding') AS encoding, ${settings(limits)}`,
        values: [],
        name: 'settings',
      })
      // In others names are not what the checks take them for.
      if (rows[0]?.encoding !== 'UTF8') {
        throw new RecordsError(
          'SQL cannot be run: the database has another encoding than UTF8; make one with that',
          'database_unsuitable',
        )
      }
      for (const setting of wishes(limits)) await client.query(`SET ${setting}`).catch(() => undefined)
      return new SqlConnection(client, rows[0].pid, database)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
  }

  /** False once it is gone or about to go; then it must get no further request. */
  get usable(): boolean {
    return this.#usable
  }

  /** Runs `work` in a session. Rejects as {@link stop} says when it is stopped. */
  run<T>({ role, rowBytes, work }: SqlWork<T>): Promise<T> {
    this.#received = 0
    this.#rowBytes = rowBytes
    const session = new SqlSession(this.#client, role)
    const done = work(session)
    // The answer does not wait for that.
    this.#settled = done
      .catch(() => undefined)
      .then(() => session.end())
      .catch(() => {
        this.drop()
      })
    return Promise.race([done, this.#stopped.promise])
  }

  /** Resolves when the connection can take another request, or is of no use any more. */
  async rest(): Promise<void> {
    await this.#settled
  }

  /**
   * Has what is under way fail with `why` at once. PostgreSQL is asked to stop it, and to end the connection when that does
   * not help. Resolves when it was asked for both, or the connection is gone.
   */
  async stop(why: unknown): Promise<void> {
    if (!this.#usable) return
    this.#usable = false
    this.#stopped.reject(why)
    for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
      await this.#database.get(`SELECT ${end}($1)`, this.#pid).catch(() => undefined)
      if (await this.#isSettledWithin(STOP_MS)) return this.close()
    }
  }

  /** Lets go of it whatever PostgreSQL is at; that notices when it next looks. */
  drop(): void {
    this.#usable = false
    socketOf(this.#client).destroy()
  }

  /** Ends it at rest. */
  async close(): Promise<void> {
    this.#usable = false
    await this.#client.end().catch(() => undefined)
  }

  #isSettledWithin(milliseconds: number): Promise<boolean> {
    const given = new AbortController()
    const late = sleep(milliseconds, false, { ref: false, signal: given.signal }).catch(() => false)
    const settled = this.#settled.then(() => true)
    return Promise.race([settled, late]).finally(() => given.abort())
  }

  /** Looks at how much PostgreSQL is about to send. */
  #count(bytes: number): void {
    this.#received += bytes
    const tooMuch =
      bytes > this.#rowBytes
        ? rowTooLarge(this.#rowBytes)
        : this.#received > MAX_RECEIVED_BYTES
          ? resultTooLarge()
          : null
    if (tooMuch === null || !this.#usable) return
    this.#usable = false
    this.#stopped.reject(tooMuch)
    this.drop()
  }
}

/**
 * Expressions that make settings of the session: it only reads, on one processor, with little memory for each step, and writes
 * values in one way whatever the database's defaults are. A step of a query sorts or hashes with an eighth of the memory, and
 * takes four times as much of the disk: PostgreSQL has no limit for a query as a whole, and a value of its can have 1 GiB.
 */
function settings({ timeoutMs, maxMemoryBytes }: QueryLimits): string {
  const values: Readonly<Record<string, string>> = {
    default_transaction_read_only: 'on',
    // A little later than we look at the clock ourselves, for when we cannot.
    statement_timeout: `${timeoutMs + 500}ms`,
    idle_in_transaction_session_timeout: '10s',
    lock_timeout: `${timeoutMs}ms`,
    work_mem: kilobytes(maxMemoryBytes / 8),
    hash_mem_multiplier: '1',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    standard_conforming_strings: 'on',
    IntervalStyle: 'iso_8601',
    extra_float_digits: '1',
    application_name: 'colophon sql',
  }
  return Object.entries(values)
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(', ')
}

/** Settings that not everybody may make, or not every system has. */
function wishes({ maxMemoryBytes }: QueryLimits): readonly string[] {
  return [
    `temp_file_limit = '${kilobytes(maxMemoryBytes * 4)}'`,
    // Without it a query goes on to its deadline when this process is gone.
    "client_connection_check_interval = '500ms'",
  ]
}

function kilobytes(bytes: number): string {
  return `${Math.max(64, Math.floor(bytes / 1024))}kB`
}
