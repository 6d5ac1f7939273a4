import { existsSync } from 'node:fs'
import { RecordsError } from '../../../errors/service-error.ts'
import type { ClientConnection, Connection } from '../database/connection.ts'
import { adoptStore, createStore, type NewStore } from './create-store.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { grantReaderAccess } from '../sql/reader-role.ts'

/** The oldest supported server version. */
const OLDEST_SERVER = 160_000

/**
 * Ensures that the tables of a sheet exist and have this version. Without tables they are created (D2), from the
 * directory's `sheet.db` where there is one, else from its `records.jsonl` and `provenance.jsonl`. Throws RecordsError for
 * an unsupported server and for invalid lines, LockTimeoutError when another process takes too long to do the same.
 */
export async function openSheetTables(
  database: Database,
  store: NewStore,
  lockTimeoutMs: number,
): Promise<void> {
  await database.writing(lockTimeoutMs, (db) => makeSheetTables(db, store, lockTimeoutMs))
}

/** Whether the tables of a sheet existed, were created, or were copied from a `sheet.db`. */
export type TablesOrigin = 'found' | 'made' | 'adopted'

/** {@link openSheetTables} within a transaction. */
export async function makeSheetTables(
  db: ClientConnection,
  store: NewStore,
  lockTimeoutMs: number,
): Promise<TablesOrigin> {
  await takeSchema(db, store.schema)
  if (!(await hasTables(db, store.schema))) return create(db, store, lockTimeoutMs)
  await migrate(db)
  return 'found'
}

/**
 * Migrates the tables of a sheet to this version; returns false where the schema has none. Throws as {@link
 * openSheetTables} does.
 */
export function bringUpToDate(database: Database, lockTimeoutMs: number): Promise<boolean> {
  const { schema } = database.location
  return database.writing(lockTimeoutMs, async (db) => {
    await takeSchema(db, schema)
    const found = await hasTables(db, schema)
    if (found) await migrate(db)
    return found
  })
}

/** Locks the schema against concurrent creation. */
async function takeSchema(db: Connection, schema: string): Promise<void> {
  await checkServer(db)
  await db.get(`SELECT pg_advisory_xact_lock(hashtextextended('colophon:' || $1, 0))::text`, schema)
}

async function create(db: ClientConnection, store: NewStore, lockTimeoutMs: number): Promise<TablesOrigin> {
  const { sources, schema } = store
  const adopts = sources !== null && existsSync(sources.database)
  if (adopts) {
    await adoptStore(db, { schema, path: sources.database, lockTimeoutMs })
  } else {
    await createStore(db, store)
  }
  await grantReaderAccess(db, schema)
  return adopts ? 'adopted' : 'made'
}

async function hasTables(db: Connection, schema: string): Promise<boolean> {
  const row = await db.get(
    `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = '$sheet'`,
    schema,
  )
  return row !== undefined
}

async function checkServer(db: Connection): Promise<void> {
  const row = await db.get(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS shown,
            current_setting('server_encoding') AS encoding`,
  )
  if (Number(row?.['version']) < OLDEST_SERVER) {
    throw new RecordsError(
      `the database server is PostgreSQL ${String(row?.['shown'])}, and a sheet takes version 16 or later`,
      'database_unsuitable',
    )
  }
  if (row?.['encoding'] !== 'UTF8') {
    throw new RecordsError(
      `the database has the encoding ${String(row?.['encoding'])}, and a sheet takes UTF8; create one with ENCODING 'UTF8'`,
      'database_unsuitable',
    )
  }
}
