import { RecordsError } from '../../../errors/service-error.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './schema.ts'

/**
 * Migrates a store of an earlier version to that of this program. Call it in a transaction in which no other process opens
 * the store. Throws RecordsError for a store of a later version.
 */
export async function migrate(db: Connection): Promise<void> {
  const version = Number((await db.get('SELECT schema_version FROM "$sheet" FOR UPDATE'))?.['schema_version'])
  if (!(version >= 1 && version <= SCHEMA_VERSION)) {
    throw new RecordsError(
      `the store was made by a later version of Colophon (its tables are of version ${version}, and this program knows ${SCHEMA_VERSION}); use that version`,
      'store_version',
    )
  }
  if (version === SCHEMA_VERSION) return
  for (let next = version + 1; next <= SCHEMA_VERSION; next += 1) await db.exec(MIGRATIONS[next] ?? '')
  await db.run('UPDATE "$sheet" SET schema_version = $1', SCHEMA_VERSION)
}
