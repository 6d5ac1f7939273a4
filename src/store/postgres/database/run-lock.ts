import type { Client } from 'pg'
import { LockTimeoutError, RecordsError } from '../../../errors/service-error.ts'
import type { RunLock } from '../../stored-run.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { asRecordsError, sqlState } from './errors.ts'

/** Milliseconds to wait at least: others hold the lock for a moment, to check whether it is taken. */
const LEAST_MS = 50

/** Milliseconds that the new holder waits for a write of another process, before it stores that it has the lock. */
const WRITERS_MS = 30_000

/** The first half of the key of our advisory locks, "colo" in ASCII; the other half is the OID of the schema. */
export const LOCK_CLASS = 0x636f6c6f

const LOCK_NUMBER = `(${LOCK_CLASS}::bigint << 32) | (SELECT oid FROM pg_namespace WHERE nspname = $1)::bigint`

/** Parameters of a request for the lock. */
export interface RunLockRequest {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Takes the lock that one process has at a time (D31): an advisory lock, held by a separate connection, so that it is
 * released when the process or its connection dies. Throws LockTimeoutError when it is not free within `timeoutMs`, the
 * signal's reason when aborted, and RecordsError for a database that cannot be reached.
 */
export async function takeRunLock(
  database: Database,
  { timeoutMs, signal }: RunLockRequest,
): Promise<HeldRunLock> {
  signal?.throwIfAborted()
  const client = await database.dedicated()
  try {
    const db = database.over(client)
    const pid = await backendOf(db)
    signal?.throwIfAborted()
    const stop = (): void => {
      // After a mere disconnect, its request would remain in the queue.
      database.run('SELECT pg_terminate_backend($1)', pid).catch(() => client.end())
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const lock = await lockWith(client, db, { schema: database.location.schema, timeoutMs })
      signal?.throwIfAborted()
      return lock
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  } catch (error) {
    client.end().catch(() => undefined)
    signal?.throwIfAborted()
    throw asRecordsError(error)
  }
}

/**
 * Ends the connections that have held the lock of a sheet for so many milliseconds, so that their processes lose it. A
 * newer holder keeps it.
 */
export async function breakRunLock(database: Database, heldMs: number): Promise<void> {
  await database.all(
    `SELECT pg_terminate_backend(held.pid) FROM pg_locks AS held LEFT JOIN pg_stat_activity AS holder ON holder.pid = held.pid
     WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1 AND held.classid = ${LOCK_CLASS}
       AND held.objid = (SELECT oid FROM pg_namespace WHERE nspname = $1)
       AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND coalesce(holder.state_change, '-infinity') <= clock_timestamp() - make_interval(secs => $2)`,
    database.location.schema,
    heldMs / 1000,
  )
}

async function backendOf(db: Connection): Promise<number> {
  return Number((await db.get('SELECT pg_backend_pid() AS pid'))?.['pid'])
}

async function lockWith(
  client: Client,
  db: Connection,
  { schema, timeoutMs }: { readonly schema: string; readonly timeoutMs: number },
): Promise<HeldRunLock> {
  await db.exec(`SET lock_timeout = ${Math.ceil(Math.max(timeoutMs, LEAST_MS))}`)
  try {
    await db.get(`SELECT pg_advisory_lock(${LOCK_NUMBER})::text`, schema)
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new LockTimeoutError(
      `another run of this sheet is under way and did not end within ${timeoutMs / 1000} s; try again later`,
      'run_in_progress',
    )
  }
  // The lock is held; a concurrent write is no reason to give it up.
  await db.exec(`SET lock_timeout = ${WRITERS_MS}`)
  const row = await db.get('UPDATE "$sheet" SET run_token = run_token + 1 RETURNING run_token')
  if (row === undefined) throw new RecordsError('the store cannot be used: its table "$sheet" is empty')
  return new HeldRunLock(client, Number(row['run_token']))
}

/** The run lock of a sheet, held by a connection. */
export class HeldRunLock implements RunLock {
  /** Increases whenever the lock is taken: a process that finds a later one in the store has lost the lock. */
  readonly token: number
  readonly #client: Client
  #released = false
  #lost = false

  constructor(client: Client, token: number) {
    this.#client = client
    this.token = token
    client.on('end', () => {
      this.#lost = !this.#released
    })
  }

  /** Whether the connection, and with it the lock, is lost. */
  get lost(): boolean {
    return this.#lost
  }

  get released(): boolean {
    return this.#released
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#client.end().catch(() => undefined)
  }
}
