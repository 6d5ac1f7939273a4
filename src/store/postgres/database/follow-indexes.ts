import { DatabaseError, type Client } from 'pg'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { ServiceError } from '../../../errors/service-error.ts'
import { ClientConnection, type Connection } from './connection.ts'
import type { Database } from './database.ts'
import { asRecordsError } from './errors.ts'
import { createIndex, fieldIndexes, isFieldIndex, type FieldIndex } from './field-indexes.ts'
import { quoted } from './schema.ts'
import { socketOf } from './store-client.ts'

/**
 * Up to so many records an index is created at once, which takes no noticeable time; CONCURRENTLY it would wait for the
 * transactions of others.
 */
const FEW_RECORDS = 10_000

/**
 * The ways to create an index, with their lock timeouts: while a statement waits to create one at once, everybody waits.
 */
const AT_ONCE = { how: '', wait: '1s' } as const
const BESIDE_OTHERS = { how: 'CONCURRENTLY', wait: '5min' } as const

/**
 * Creates the missing indexes of the contract in force, and drops those that it does not need. Reads and writes continue:
 * an index of many records is created concurrently. Only speed depends on an index, so failures are left to the next call,
 * as is all of it while another process does the same, and the rest when the signal aborts.
 */
export async function followIndexes(database: Database, signal?: AbortSignal): Promise<void> {
  const isAborted = (): boolean => signal?.aborted === true
  try {
    if (isAborted()) return
    if (isDone(await changesOf(database))) return
    const client = await database.dedicated()
    const stop = (): void => socketOf(client).destroy()
    signal?.addEventListener('abort', stop)
    try {
      if (!isAborted()) await carryOut(client)
    } catch (error) {
      throw asRecordsError(error)
    } finally {
      signal?.removeEventListener('abort', stop)
      await client.end()
    }
  } catch (error) {
    if (isAborted()) return
    if (!(error instanceof ServiceError || error instanceof DatabaseError)) throw error
  }
}

interface IndexChanges {
  readonly missing: readonly FieldIndex[]
  /** Names of indexes that no field needs, or that are incomplete. */
  readonly surplus: readonly string[]
  readonly records: number
}

async function changesOf(db: Pick<Connection, 'all' | 'get'>): Promise<IndexChanges> {
  const sheet = await db.get('SELECT contract, records FROM "$sheet"')
  const wanted = fieldIndexes(parseStoredContract(String(sheet?.['contract'])))
  const rows = await db.all(
    `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = '"$data"'::regclass ORDER BY relname`,
  )
  const present = new Map(rows.map((row) => [String(row['name']), row['valid'] === true]))
  const names = new Set(wanted.map(({ name }) => name))
  return {
    missing: wanted.filter(({ name }) => present.get(name) !== true),
    surplus: [...present].flatMap(([name, valid]) =>
      isFieldIndex(name) && !(valid && names.has(name)) ? [name] : [],
    ),
    records: Number(sheet?.['records']),
  }
}

function isDone({ missing, surplus }: IndexChanges): boolean {
  return missing.length + surplus.length === 0
}

/** Repeats until nothing is left to do, since the contract may change while an index is created. */
async function carryOut(client: Client): Promise<void> {
  const db = new ClientConnection(client)
  await db.exec('SET statement_timeout = 0')
  if ((await db.get(TAKE_TURN))?.['taken'] !== true) return
  for (let made = false; ; made = true) {
    const changes = await changesOf(db)
    if (isDone(changes)) {
      // PostgreSQL has no statistics of an expression before ANALYZE, and would not use its index.
      if (made) await db.exec('ANALYZE "$data"')
      return
    }
    const { how, wait } = changes.records > FEW_RECORDS ? BESIDE_OTHERS : AT_ONCE
    await db.exec(`SET lock_timeout = '${wait}'`)
    for (const name of changes.surplus) await db.exec(`DROP INDEX ${how} IF EXISTS ${quoted(name)}`)
    const [index] = changes.missing
    if (index !== undefined) await db.exec(createIndex(index, how))
  }
}

/** Allows one process at a time; the lock ends with the connection. */
const TAKE_TURN = `SELECT pg_try_advisory_lock(hashtextextended('colophon indexes:' || current_schema(), 0)) AS taken`
