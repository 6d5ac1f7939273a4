import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Contract } from '../../../contract/contract.ts'
import type { SourcePaths } from '../../sheet-files/import-lines.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import { SheetDatabase } from '../snapshot/sheet-database.ts'
import type { ClientConnection } from '../database/connection.ts'
import { createIndex, fieldIndexes } from '../database/field-indexes.ts'
import { importLog, importRecords } from './import-files.ts'
import { ANALYZE } from '../database/table-statistics.ts'
import {
  checkColumns,
  dataTable,
  ID_INDEX,
  INTERNAL_TABLES,
  quoted,
  recordsView,
  SCHEMA_VERSION,
} from '../database/schema.ts'
import { applyTargets } from './targets.ts'

export interface NewStore {
  readonly schema: string
  readonly contract: Contract
  readonly targets: readonly TargetDefinition[]
  /** The actor of the import, for provenance. */
  readonly actor: string
  /** The files from which the store is created; null for none. */
  readonly sources: SourcePaths | null
}

/**
 * Creates the tables of a sheet, from `records.jsonl` and an existing `provenance.jsonl` (D2). Call it in a transaction, so
 * that an import that fails leaves nothing behind. Throws RecordsError naming file, line and field of an invalid line,
 * ContractError for a contract that PostgreSQL cannot store.
 */
export async function createStore(db: ClientConnection, store: NewStore): Promise<void> {
  const { contract, sources } = store
  await makeTables(db, store)
  await db.run(
    'INSERT INTO "$sheet" (one, schema_version, contract, cursor_key) VALUES (1, $1, $2, $3)',
    SCHEMA_VERSION,
    contract.text,
    randomBytes(32),
  )
  const lastSeq = sources === null ? 0 : await importLog(db, sources)
  if (sources !== null && existsSync(sources.source)) {
    await importRecords(db, { ...store, path: sources.source, seq: lastSeq + 1 })
  }
  await makeIndexes(db, contract)
  await withoutKeys(db, ['$cell', '$todo'], () => applyTargets(db, store.targets))
  await db.exec(ANALYZE)
}

/** Fills tables whose primary key is created after all rows, which is faster. Both have the same primary key. */
async function withoutKeys(
  db: ClientConnection,
  tables: readonly string[],
  fill: () => Promise<unknown>,
): Promise<void> {
  const altered = tables.map((table) => ({ table: quoted(table), key: quoted(`${table}_pkey`) }))
  await db.exec(altered.map(({ table, key }) => `ALTER TABLE ${table} DROP CONSTRAINT ${key}`).join(';'))
  await fill()
  await db.exec(
    altered
      .map(({ table, key }) => `ALTER TABLE ${table} ADD CONSTRAINT ${key} PRIMARY KEY (target, record)`)
      .join(';'),
  )
}

/** A store of SQLite that is moved to a schema. */
export interface AdoptedStore {
  readonly schema: string
  /** Its `sheet.db`. */
  readonly path: string
  readonly lockTimeoutMs: number
}

/**
 * Creates the tables of a sheet with the contents of a `sheet.db`. Call it in a transaction. Throws RecordsError for a file
 * that is not a store, ContractError for a contract that PostgreSQL cannot store.
 */
export async function adoptStore(
  db: ClientConnection,
  { schema, path, lockTimeoutMs }: AdoptedStore,
): Promise<void> {
  const source = await SheetDatabase.open(path, lockTimeoutMs)
  try {
    const { contract, kept } = source
    await makeTables(db, { schema, contract }, kept)
    await source.copyInto(db)
    await makeIndexes(db, contract)
    await db.exec(ANALYZE)
  } finally {
    source.close()
  }
}

/** Memory to sort all values of a field, which checking and creating indexes requires. */
const MEMORY = `SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL work_mem = '64MB'`

async function makeTables(
  db: ClientConnection,
  { schema, contract }: Pick<NewStore, 'schema' | 'contract'>,
  kept: readonly KeptColumn[] = [],
): Promise<void> {
  checkColumns(contract)
  const known = await db.get('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema)
  // Checked first: a user without permission to create schemas can be given an existing one.
  if (known === undefined) await db.exec(`CREATE SCHEMA ${quoted(schema)}`)
  await db.exec(`${MEMORY};${INTERNAL_TABLES};${dataTable(contract, kept)}`)
}

/** Creates the indexes after the records, which is faster. */
async function makeIndexes(db: ClientConnection, contract: Contract): Promise<void> {
  const indexes = fieldIndexes(contract).map((index) => createIndex(index))
  await db.exec([ID_INDEX, ...indexes, recordsView(contract)].join(';'))
}
