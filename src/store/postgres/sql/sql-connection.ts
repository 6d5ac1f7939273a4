import type { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Database } from '../database/database.ts'
import { socketOf } from '../database/store-client.ts'
import { FrameWatch } from './message-watch.ts'
import { resultTooLarge } from '../../rules/sql/sql-errors.ts'
import { rowTooLarge } from './sql-result.ts'
import { MAX_RECEIVED_BYTES, MAX_ROW_BYTES } from './sql-limits.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { SqlSession } from './sql-session.ts'

/**
 * Milliseconds after which a cancelled query is ended with its connection. Within one expression, such as a thousand
 * products of numbers with a hundred thousand digits, PostgreSQL notices neither.
 */
const STOP_MS = 1000

/** A request that a connection carries out. */
export interface SqlWork<T> {
  /** The role that SQL from a user runs as. */
  readonly role: string
  /** The most bytes of a row. */
  readonly rowBytes: number
  readonly work: (session: SqlSession) => Promise<T>
}

/**
 * A connection for SQL from users, for one request at a time. It can be stopped at any moment, and cannot be used
 * afterwards.
 */
export class SqlConnection {
  /** Resolves when the connection is closed. */
  readonly ended: Promise<void>
  readonly #client: Client
  readonly #pid: number
  readonly #database: Database
  /** Rejects the request under way. */
  #reject: (why: unknown) => void = () => undefined
  /** The error of a request that was stopped; null for none. */
  #stopped: { readonly why: unknown } | null = null
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
    client.on('end', () => {
      this.#usable = false
      resolve()
    })
    const watch = new FrameWatch((bytes) => this.#count(bytes))
    socketOf(client).on('data', (bytes: Buffer) => watch.push(bytes))
  }

  /** Opens a connection. Throws RecordsError. */
  static async open(database: Database, limits: QueryLimits): Promise<SqlConnection> {
    const client = await database.dedicated()
    try {
      const { rows } = await client.query<{ pid: number; encoding: string }>({
        text: `SELECT pg_backend_pid() AS pid, current_setting('server_encoding') AS encoding, ${settings(limits)}`,
        values: [],
        name: 'settings',
      })
      // In other encodings names differ from what the checks assume.
      if (rows[0]?.encoding !== 'UTF8') {
        throw new RecordsError(
          'SQL cannot be run: the database has another encoding than UTF8; make one with that',
          'database_unsuitable',
        )
      }
      for (const setting of optionalSettings(limits))
        await client.query(`SET ${setting}`).catch(() => undefined)
      return new SqlConnection(client, rows[0].pid, database)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
  }

  /** False once the connection is closed or closing; then it must get no further request. */
  get usable(): boolean {
    return this.#usable
  }

  /** Runs `work` in a session. Rejects as {@link stop} specifies when it is stopped. */
  run<T>({ role, rowBytes, work }: SqlWork<T>): Promise<T> {
    this.#received = 0
    this.#rowBytes = rowBytes
    const session = new SqlSession(this.#client, role)
    const done = work(session)
    // The response does not wait for the end of the session.
    this.#settled = done
      .catch(() => undefined)
      .then(() => session.end())
      .catch(() => {
        this.drop()
      })
    // A promise of each request: one of the connection would keep the results of all of them.
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#reject = reject
    if (this.#stopped !== null) reject(this.#stopped.why)
    done.then(resolve, reject)
    return promise
  }

  /** Resolves when the connection can take another request, or has become unusable. */
  async rest(): Promise<void> {
    await this.#settled
  }

  /**
   * Makes the request under way reject with `why` at once. PostgreSQL is asked to cancel it, and to end the connection when
   * that does not help. Resolves when both were sent, or the connection is closed.
   */
  async stop(why: unknown): Promise<void> {
    if (!this.#usable) return
    this.#usable = false
    this.#end(why)
    for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
      await this.#database.get(`SELECT ${end}($1)`, this.#pid).catch(() => undefined)
      if (await this.#isSettledWithin(STOP_MS)) return this.close()
    }
  }

  /** Destroys the connection whatever PostgreSQL is doing; it notices at its next check. */
  drop(): void {
    this.#usable = false
    socketOf(this.#client).destroy()
  }

  async close(): Promise<void> {
    this.#usable = false
    await this.#client.end().catch(() => undefined)
  }

  #end(why: unknown): void {
    this.#stopped ??= { why }
    this.#reject(why)
  }

  #isSettledWithin(milliseconds: number): Promise<boolean> {
    const given = new AbortController()
    const late = sleep(milliseconds, false, { ref: false, signal: given.signal }).catch(() => false)
    const settled = this.#settled.then(() => true)
    return Promise.race([settled, late]).finally(() => given.abort())
  }

  /** Checks the announced length of a message against the limits. */
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
    this.#end(tooMuch)
    this.drop()
  }
}

/**
 * Returns expressions that make settings of the session: read-only, one processor, little memory for each step, and one
 * format of values whatever the database's defaults are. A step of a query sorts or hashes with an eighth of the memory,
 * and takes four times as much of the disk: PostgreSQL has no limit for a query as a whole, and a single value can have 1
 * GiB.
 */
function settings({ timeoutMs, maxMemoryBytes }: QueryLimits): string {
  const values: Readonly<Record<string, string>> = {
    default_transaction_read_only: 'on',
    // A little later than our own deadline, for when this process cannot enforce it.
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

/** Returns settings that need a privilege, or that not every system has. */
function optionalSettings({ maxMemoryBytes }: QueryLimits): readonly string[] {
  return [
    `temp_file_limit = '${kilobytes(maxMemoryBytes * 4)}'`,
    // Without it a query continues to its deadline after this process has ended.
    "client_connection_check_interval = '500ms'",
  ]
}

function kilobytes(bytes: number): string {
  return `${Math.max(64, Math.floor(bytes / 1024))}kB`
}
