import { checkSchema } from './check-schema.ts'
import { Connection, whenFree, type LockWait, type StoredRow } from './connection.ts'
import { migrate } from './migrate.ts'

/**
 * Opens an existing store and migrates it to this version. Throws RecordsError for a file that is not a store, or a store
 * of a later version, or one that this program did not create.
 */
export async function openDatabase(
  path: string,
  wait: LockWait,
): Promise<{ db: Connection; sheet: StoredRow }> {
  await whenFree(wait, () => checkSchema(path))
  const db = await whenFree(wait, () => Connection.forWriting(path))
  try {
    await migrate(db, wait)
    return { db, sheet: await whenFree(wait, () => db.get('SELECT * FROM "$sheet"') ?? {}) }
  } catch (error) {
    db.close()
    throw error
  }
}
