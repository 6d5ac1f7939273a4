import { createHash } from 'node:crypto'
import type { Field } from '../../src/contract/contract.ts'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import {
  dataTable,
  ID_INDEX,
  INTERNAL_TABLES,
  quoted,
  recordset,
  recordsView,
} from '../../src/store/postgres/database/schema.ts'
import { grantReaderAccess } from '../../src/store/postgres/sql/reader-role.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { toColumns } from '../../src/store/postgres/database/values.ts'
import { startPostgres } from './postgres.ts'
import { contractOf } from './sheet-database.ts'

/** A sheet in its own schema in PostgreSQL, written to without the store. */
export interface PostgresRecords {
  readonly url: string
  readonly database: Database
  readonly fields: readonly Field[]
  /** Adds records, in creation order. */
  insert(...records: readonly JsonObject[]): Promise<void>
  /** Returns a hash that changes with any change of the sheet. */
  hash(): Promise<string>
  close(): Promise<void>
}

/** Creates the tables of a sheet with these fields, without records. */
export async function createPostgresRecords(
  fields: readonly Field[],
  { user }: { readonly user?: string } = {},
): Promise<PostgresRecords> {
  const server = await startPostgres()
  const schema = parseStoreUrl(server.freshUrl()).schema
  const url = server.url(schema, user === undefined ? {} : { user })
  const database = new Database(parseStoreUrl(url))
  const contract = contractOf(fields)
  await database.writing(5000, async (db) => {
    await db.exec(`CREATE SCHEMA ${quoted(schema)}`)
    await db.exec(INTERNAL_TABLES)
    await db.exec(dataTable(contract))
    await db.exec(`${ID_INDEX}; ${recordsView(contract)}`)
    await grantReaderAccess(db, schema)
  })
  let count = 0
  return {
    url,
    database,
    fields,
    insert: async (...records) => {
      const rows = records.map((record) => ({
        $seq: (count += 1),
        $version: 0,
        ...Object.fromEntries(fields.flatMap((field) => toColumns(field, record[field.name] ?? null))),
      }))
      await database.run(
        `INSERT INTO "$data" SELECT * FROM json_to_recordset($1) AS record (${recordset(fields)})`,
        JSON.stringify(rows),
      )
    },
    hash: async () => {
      const tables = await database.all(
        'SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY relname',
      )
      const hash = createHash('sha256').update(JSON.stringify(tables))
      const data = await database.all(`SELECT data::text, xmin::text FROM "$data" AS data ORDER BY "$seq"`)
      return hash.update(JSON.stringify(data)).digest('hex')
    },
    close: () => database.close(),
  }
}
