import type { TestContext } from 'node:test'
import { Database } from '../../src/store/postgres/database/database.ts'
import { INTERNAL_TABLES, quoted } from '../../src/store/postgres/database/schema.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { onEnd } from './on-end.ts'
import { startPostgres } from './postgres.ts'

/** Creates the tables of a sheet, by default in a new schema. */
export async function freshTables(
  t: TestContext,
  url?: string,
): Promise<{ url: string; database: Database }> {
  url ??= (await startPostgres()).freshUrl()
  const database = new Database(parseStoreUrl(url))
  onEnd(t, () => database.close())
  await database.exec(`CREATE SCHEMA ${quoted(database.location.schema)}; ${INTERNAL_TABLES}`)
  return { url, database }
}
