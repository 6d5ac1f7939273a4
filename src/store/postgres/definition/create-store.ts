import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Contract } from '../../../contract/contract.ts'
import type { SourcePaths } from '../../sheet-files/import-lines.ts'
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
  /** Who imports, for the provenance. */
  readonly actor: string
  /** The files that the store begins from; null for none. */
  readonly sources: SourcePaths | null
}

/**
 * Makes the tables of a sheet, from `records.jsonl` and what there is of `provenance.jsonl` (D2). To be called in a
 * transaction, so that an import that stops leaves nothing behind. Throws RecordsError naming file, line and field of a bad
 * line, ContractError for a contract that has no place in PostgreSQL.
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
  const lastSeq = sources !== null && existsSync(sources.log) ? await importLog(db, sources.log) : 0
  if (sources !== null && existsSync(sources.source)) {
    await importRecords(db, { ...store, path: sources.source, seq: lastSeq + 1 })
  }
  await makeIndexes(db, contract)
  await withoutKeys(db, ['$cell', '$todo'], () => applyTargets(db, store.targets))
  await db.exec(ANALYZE)
}

/** Fills tables whose primary key is made when all rows are there, which is faster. Both have the same. */
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

/** A store of the other engine that goes on in a schema. */
export interface AdoptedStore {
  readonly schema: string
  /** Its `sheet.db`. */
  readonly path: string
  readonly lockTimeoutMs: number
}

/**
 * Makes the tables of a sheet as those of a `sheet.db` are, with all that is in them. To be called in a transaction. Throws
 * RecordsError for a file that is no store, ContractError for a contract that has no place in PostgreSQL.
 */
export async function adoptStore(
  db: ClientConnection,
  { schema, path, lockTimeoutMs }: AdoptedStore,
): Promise<void> {
  const source = await SheetDatabase.open(path, lockTimeoutMs)
  try {
    const { contract } = source
    await makeTables(db, { schema, contract })
    await source.copyInto(db)
    await makeIndexes(db, contract)
    await db.exec(ANALYZE)
  } finally {
    source.close()
  }
}

/** For sorting all values of a field, which is what checking and making indexes comes to. */
const MEMORY = `SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL work_mem = '64MB'`

async function makeTables(
  db: ClientConnection,
  { schema, contract }: Pick<NewStore, 'schema' | 'contract'>,
): Promise<void> {
  checkColumns(contract)
  const known = await db.get('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema)
  // Asked first: whoever may not make schemas can be given one.
  if (known === undefined) await db.exec(`CREATE SCHEMA ${quoted(schema)}`)
  await db.exec(`${MEMORY};${INTERNAL_TABLES};${dataTable(contract)}`)
}

/** Once the records are there, which is faster. */
async function makeIndexes(db: ClientConnection, contract: Contract): Promise<void> {
  const indexes = fieldIndexes(contract).map((index) => createIndex(index))
  await db.exec([ID_INDEX, ...indexes, recordsView(contract)].join(';'))
}
