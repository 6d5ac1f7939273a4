import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type Client, type PoolClient } from 'pg'
import { clientConfig } from './client-config.ts'
import { ConnectionWatch } from './connection-watch.ts'
import { ClientConnection, type Connection, type SqlInput, type StoredRow } from './connection.ts'
import { RecordsError, StoppingError } from '../../../errors/service-error.ts'
import type { Query, Statement } from '../../rows/query.ts'
import { LEASE_MS } from '../../run-tasks.ts'
import { ENTRY_TIME } from './database-clock.ts'
import { asConnectError, asRecordsError, isConnectionFault, isLost, isStalePlan, sqlState } from './errors.ts'
import { StoreClient } from './store-client.ts'
import type { StoreLocation } from './store-url.ts'

/** Connections that read at once. */
const READERS = 8

/** Milliseconds before a retry on another connection. */
const RETRY_MS = 20

/**
 * The connections of a store. All of them find the sheet's tables without naming the schema, and return times in UTC.
 * Failures of the database are thrown as RecordsError or LockTimeoutError.
 */
export class Database implements Connection {
  readonly location: StoreLocation
  readonly #readers: Pool
  readonly #writers: Pool
  readonly #watch: ConnectionWatch
  /** Connections that were idle in a pool: each may have been lost meanwhile. */
  readonly #idled = new WeakSet<PoolClient>()

  /** `checkMs`: milliseconds between checks of connections that do not respond. */
  constructor(location: StoreLocation, checkMs?: number) {
    this.location = location
    this.#watch = new ConnectionWatch(location, checkMs)
    this.#readers = poolOf(location, READERS, this.#watch)
    this.#writers = poolOf(location, 1, this.#watch)
  }

  /** Opens a connection outside the pools; the caller ends it. */
  async dedicated(): Promise<Client> {
    const client = new StoreClient(clientConfig(this.location))
    client.on('error', ignore)
    try {
      await client.connect()
    } catch (error) {
      throw asConnectError(error)
    }
    return client
  }

  /** Wraps such a connection for queries, which reject when it is lost. */
  over(client: Client): ClientConnection {
    return new ClientConnection(client, this.#watch)
  }

  all(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow[]> {
    return this.#use(this.#readers, (db) => db.all(sql, ...params))
  }

  get(sql: string, ...params: readonly SqlInput[]): Promise<StoredRow | undefined> {
    return this.#use(this.#readers, (db) => db.get(sql, ...params))
  }

  run(sql: string, ...params: readonly SqlInput[]): Promise<number> {
    return this.#use(this.#readers, (db) => db.run(sql, ...params))
  }

  query<T>(query: Query<T>): Promise<T> {
    return this.#use(this.#readers, (db) => db.query(query))
  }

  change(statement: Statement): Promise<number> {
    return this.#use(this.#readers, (db) => db.change(statement))
  }

  exec(sql: string): Promise<void> {
    return this.#use(this.#readers, (db) => db.exec(sql))
  }

  /** Reads with several statements from one state of the store. */
  reading<T>(read: (db: ClientConnection) => Promise<T>): Promise<T> {
    const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
    return this.#use(this.#readers, (db) => transaction(db, begin, read))
  }

  /** Changes tables other than those of the sheet in one transaction; writes of the sheet continue meanwhile. */
  changing<T>(work: (db: ClientConnection) => Promise<T>): Promise<T> {
    return this.#use(this.#readers, (db) => transaction(db, `BEGIN;${HALT}`, work))
  }

  foreign(sql: string, params?: readonly unknown[]): Promise<{ rows: unknown[] }> {
    return this.#use(this.#readers, (db) => db.foreign(sql, params))
  }

  /**
   * Runs `work` in a transaction that waits for locks of others for so many milliseconds, and commits it: when it is
   * settled, all is durable, or nothing has happened. Throws LockTimeoutError for a lock that is not free in time.
   */
  writing<T>(lockTimeoutMs: number, work: (db: ClientConnection) => Promise<T>): Promise<T> {
    return this.#use(this.#writers, (db) => transaction(db, beginWriting(lockTimeoutMs), work))
  }

  /**
   * The same for changes of the sheet, whose row of `$sheet` is locked from the beginning. `work` receives that row and
   * returns statements that run last, together with the commit.
   */
  writingSheet<T>(
    lockTimeoutMs: number,
    work: (db: ClientConnection, sheet: StoredRow) => Promise<{ value: T; last: readonly string[] }>,
  ): Promise<T> {
    return this.#use(this.#writers, async (db) => {
      const [sheet] = await db.execForRows(`${beginWriting(lockTimeoutMs)};${HALT};${TAKE_SHEET}`)
      if (sheet === undefined) throw new RecordsError('the store cannot be used: its table "$sheet" is empty')
      const { value, last } = await work(db, sheet)
      await commit(db, last)
      return value
    })
  }

  /** Waits for work under way, and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()])
  }

  async #use<T>(pool: Pool, work: (db: ClientConnection) => Promise<T>): Promise<T> {
    for (let stale = 0, lost = 0; ;) {
      const tried = await this.#tryWith(pool, work)
      if ('value' in tried) return tried.value
      const { error, hasIdled } = tried
      // Each connection of the pool may have prepared such a statement, and is closed then.
      if (isStalePlan(error) && stale <= pool.options.max) {
        stale += 1
        continue
      }
      // The other idle connections may have been lost along with it. A new one that is lost as well has another reason.
      const mayContinue = hasIdled ? lost < pool.options.max : lost === 0
      if (!mayContinue || !isConnectionFault(error)) throw asRecordsError(error)
      lost += 1
      await sleep(RETRY_MS)
    }
  }

  async #tryWith<T>(
    pool: Pool,
    work: (db: ClientConnection) => Promise<T>,
  ): Promise<{ value: T } | { error: unknown; hasIdled: boolean }> {
    const client = await connect(pool)
    const hasIdled = this.#idled.has(client)
    const db = new ClientConnection(client, this.#watch)
    let fault: unknown
    try {
      return { value: await work(db) }
    } catch (error) {
      fault = error
      // Also where it seems to be in none: the server sends an error before the state of the transaction.
      if (sqlState(error) !== undefined || client.getTransactionStatus() !== 'I')
        await db.exec('ROLLBACK').catch(ignore)
      return { error, hasIdled }
    } finally {
      this.#idled.add(client)
      // A connection that is within a transaction is of no use to others.
      client.release(isWorthTrying(fault) || client.getTransactionStatus() !== 'I')
    }
  }
}

/**
 * Whether failed work has changed nothing and may succeed on another connection: its connection was lost, or had prepared a
 * statement for a column whose type has changed since. A failed commit is neither.
 */
function isWorthTrying(error: unknown): boolean {
  return isConnectionFault(error) || isStalePlan(error)
}

async function connect(pool: Pool): Promise<PoolClient> {
  if (pool.ending) throw new StoppingError('the store is closed')
  try {
    return await pool.connect().catch((error: unknown) => {
      if (!isLost(error)) throw error
      // The connection was lost right after it was made, and nothing was sent on it.
      return pool.connect()
    })
  } catch (error) {
    throw asConnectError(error)
  }
}

async function transaction<T>(
  db: ClientConnection,
  begin: string,
  work: (db: ClientConnection) => Promise<T>,
): Promise<T> {
  await db.exec(begin)
  const result = await work(db)
  await commit(db, [])
  return result
}

/** Commits, after some last statements. */
async function commit(db: ClientConnection, last: readonly string[]): Promise<void> {
  try {
    const done = await db.execForCommand([...last, 'COMMIT'].join(';'))
    // PostgreSQL rolls back a transaction in which a statement failed, and does not call that an error.
    if (done !== 'COMMIT')
      throw new Error(`a transaction ended with ${done}: a fault of one of its statements was passed over`)
  } catch (error) {
    if (!isConnectionFault(error)) throw error
    throw new RecordsError(
      'the connection to the database was lost while a change was being stored: it may be there or not; read it before you try again',
      'unknown_outcome',
    )
  }
}

/** A commit counts as done when it is on the disk, even where the database is set up otherwise (D17). */
function beginWriting(lockTimeoutMs: number): string {
  return (
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs))};` +
    `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`
  )
}

/**
 * Makes a halted or disconnected process release its locks before the leases of others expire, whose heartbeats the locks
 * delay. Others wait much longer than that before they give up a write.
 */
const HALT = `SET LOCAL idle_in_transaction_session_timeout = ${(LEASE_MS * 2) / 3}`

/** Reads the clock and the last entry in a second statement, when the row is locked. */
const TAKE_SHEET = `SELECT FROM "$sheet" FOR UPDATE;
  SELECT definition, records, last_record, last_seq, EXISTS (SELECT FROM "$review") AS reviewed, ${ENTRY_TIME} FROM "$sheet"`

function ignore(): void {}

function poolOf(location: StoreLocation, max: number, watch: ConnectionWatch): Pool {
  const config = clientConfig(location)
  class PooledClient extends StoreClient {
    constructor() {
      super(config)
    }
  }
  const pool = new Pool({ ...config, max, idleTimeoutMillis: 60_000, Client: PooledClient })
  // Errors of idle connections: the pool opens others.
  pool.on('error', ignore)
  // Errors of a connection that is lost between queries, from its first moment on: the next query reports them.
  pool.on('connect', (client) => client.on('error', ignore))
  pool.on('connect', (client) => watch.pooled(client))
  pool.on('remove', (client) => watch.forget(client))
  return pool
}
