import type { Client } from 'pg'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Database } from './database.ts'

/** Behind a pooler with other clients, the two connections may share one only after some tries. */
const TRIES = 5

/**
 * Throws RecordsError for a pooler that assigns a connection for each transaction, such as PgBouncer in transaction mode:
 * settings, locks and `LISTEN` of one client would apply to another.
 */
export async function refusePooling(database: Database): Promise<void> {
  const one = await database.dedicated()
  try {
    const pid = await pidOf(one)
    // A pooler reports a process id of its own.
    if (pid === numberOf(one)) return
    await compare(one, pid, database)
  } finally {
    await one.end()
  }
}

async function compare(one: Client, pid: number, database: Database): Promise<void> {
  const other = await database.dedicated()
  try {
    // The second gets the connection that the first has released.
    for (let tries = 0; tries < TRIES; tries += 1) {
      if ((await pidOf(other)) === pid || (await pidOf(one)) !== pid) throw pooled()
    }
  } finally {
    await other.end()
  }
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return Number(rows[0]?.pid)
}

function numberOf(client: Client): number | null {
  return (client as unknown as { readonly processID: number | null }).processID
}

function pooled(): RecordsError {
  return new RecordsError(
    'the store cannot be used through a pooler that lends connections for a transaction at a time; have it pool sessions (PgBouncer: pool_mode=session), or connect to the database itself',
    'database_unsuitable',
  )
}
