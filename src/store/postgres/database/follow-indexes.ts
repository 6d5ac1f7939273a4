import { DatabaseError, type Client } from 'pg'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { ServiceError } from '../../../errors/service-error.ts'
import { ClientConnection, type Connection } from './connection.ts'
import type { Database } from './database.ts'
import { createIndex, fieldIndexes, isFieldIndex, type FieldIndex } from './field-indexes.ts'
import { quoted } from './schema.ts'

/** An index of so few records is made at once, which nobody notices; beside others it would wait for their transactions. */
const FEW_RECORDS = 10_000

/** How long an index may wait for others: behind one that is made at once, everybody waits. */
const AT_ONCE = { how: '', wait: '1s' } as const
const BESIDE_OTHERS = { how: 'CONCURRENTLY', wait: '5min' } as const

/**
 * Makes the indexes that the contract in force asks for and that are not there, and drops those that it does not ask for.
 * Records are read and written meanwhile: an index of many is built beside that. Nobody depends on an index but for speed,
 * so what cannot be done now is left to the next time; and so it is while another process is at it.
 */
export async function followIndexes(database: Database): Promise<void> {
  try {
    if (isDone(await changesOf(database))) return
    const client = await database.dedicated()
    try {
      await carryOut(client)
    } finally {
      await client.end()
    }
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof DatabaseError)) throw error
  }
}

interface IndexChanges {
  readonly missing: readonly FieldIndex[]
  /** Names of indexes that nobody asks for, or that were begun and never finished. */
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

/** Until nothing is left to do: the contract may be another by the time that an index is made. */
async function carryOut(client: Client): Promise<void> {
  const db = new ClientConnection(client)
  await db.exec('SET statement_timeout = 0')
  if ((await db.get(TAKE_TURN))?.['taken'] !== true) return
  for (let made = false; ; made = true) {
    const changes = await changesOf(db)
    if (isDone(changes)) {
      // Of an expression PostgreSQL knows nothing until it has looked, and thinks little of its index.
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

/** One process at a time; the lock goes with the connection. */
const TAKE_TURN = `SELECT pg_try_advisory_lock(hashtextextended('colophon indexes:' || current_schema(), 0)) AS taken`
