import type { Client } from 'pg'
import { LockTimeoutError, RecordsError } from '../../errors/service-error.ts'
import type { RunLock } from '../sheet-store.ts'
import { ClientConnection } from './connection.ts'
import type { Database } from './database.ts'
import { asRecordsError, sqlState } from './errors.ts'

/** Others hold the lock for a moment, to see whether somebody has it. */
const LEAST_MS = 50

/** How long the change of another process may keep whoever has got the lock from noting that. */
const WRITERS_MS = 30_000

/** The first half of the numbers of our advisory locks, "colo" in ASCII; the other half is the schema's own number. */
const LOCK_CLASS = 0x636f6c6f

const LOCK_NUMBER = `(${LOCK_CLASS}::bigint << 32) | (SELECT oid FROM pg_namespace WHERE nspname = $1)::bigint`

/** The run lock of a sheet, as long as a process has it. */
export interface HeldRunLock extends RunLock {
  /** Counts up whenever somebody takes the lock: whoever finds a later one in the store has it no longer. */
  readonly token: number
  /** Whether the connection that held the lock is gone, and the lock with it. */
  readonly lost: boolean
}

/** For which sheet the lock is wanted, and for how long. */
export interface RunLockRequest {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Takes the lock that one process has at a time (D31): an advisory lock, held by a connection of its own, so that it is gone
 * when the process or its connection dies. Throws LockTimeoutError when it is not free within `timeoutMs`, the signal's
 * reason when aborted, and RecordsError for a database that cannot be reached.
 */
export async function takeRunLock(
  database: Database,
  { timeoutMs, signal }: RunLockRequest,
): Promise<HeldRunLock> {
  signal?.throwIfAborted()
  const client = await database.dedicated()
  try {
    const pid = await backendOf(client)
    signal?.throwIfAborted()
    const stop = (): void => {
      // Whoever only hangs up goes on standing in the queue.
      database.run('SELECT pg_terminate_backend($1)', pid).catch(() => client.end())
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const lock = await lockWith(client, database.location.schema, timeoutMs)
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

async function backendOf(client: Client): Promise<number> {
  return Number((await new ClientConnection(client).get('SELECT pg_backend_pid() AS pid'))?.['pid'])
}

async function lockWith(client: Client, schema: string, timeoutMs: number): Promise<HeldRunLock> {
  const db = new ClientConnection(client)
  await db.exec(`SET lock_timeout = ${Math.ceil(Math.max(timeoutMs, LEAST_MS))}`)
  try {
    await db.get(`SELECT pg_advisory_lock(${LOCK_NUMBER})::text`, schema)
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new LockTimeoutError(
      `another run of this sheet is under way and did not end within ${timeoutMs / 1000} s; try again later`,
    )
  }
  // The lock is had; that others are writing just now is nothing to give it up for.
  await db.exec(`SET lock_timeout = ${WRITERS_MS}`)
  const row = await db.get('UPDATE "$sheet" SET run_token = run_token + 1 RETURNING run_token')
  if (row === undefined) throw new RecordsError('the store cannot be used: its table "$sheet" is empty')
  return new ConnectionLock(client, Number(row['run_token']))
}

class ConnectionLock implements HeldRunLock {
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

  get lost(): boolean {
    return this.#lost
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#client.end().catch(() => undefined)
  }
}
