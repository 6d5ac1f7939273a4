import type { Client } from 'pg'
import { RecordsError } from '../../../errors/service-error.ts'
import type { Database } from './database.ts'

/** Behind a pooler that others use too, two connections need not meet at once. */
const TRIES = 5

/**
 * Looks whether connections are what they seem. Throws RecordsError for a pooler that lends a connection for a transaction
 * only, such as PgBouncer in transaction mode: settings, locks and `LISTEN` of one would then be another's.
 */
export async function refusePooling(database: Database): Promise<void> {
  const one = await database.dedicated()
  try {
    const pid = await pidOf(one)
    // A pooler tells a client a number of its own.
    if (pid === numberOf(one)) return
    await compare(one, pid, database)
  } finally {
    await one.end()
  }
}

async function compare(one: Client, pid: number, database: Database): Promise<void> {
  const other = await database.dedicated()
  try {
    // What the first has let go of is what the second gets.
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
