import { checkSchema } from './check-schema.ts'
import { Connection, whenFree, type LockWait, type StoredRow } from './connection.ts'
import { migrate } from './migrate.ts'

/**
 * Opens a store that exists, and brings it to this version. Throws RecordsError when it is none, one of a later version,
 * or one that this program did not make.
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
