import { RecordsError } from '../../errors/service-error.ts'
import { Connection, whenFree, type LockWait, type StoredRow } from './connection.ts'
import { migrate } from './migrate.ts'

/**
 * Opens a store that exists, and brings it to this version. Throws RecordsError when it is none, or one of a later
 * version.
 */
export async function openDatabase(
  path: string,
  wait: LockWait,
): Promise<{ db: Connection; sheet: StoredRow }> {
  const db = await whenFree(wait, () => openStore(path))
  try {
    await migrate(db, wait)
    return { db, sheet: await whenFree(wait, () => db.get('SELECT * FROM "$sheet"') ?? {}) }
  } catch (error) {
    db.close()
    throw error
  }
}

function openStore(path: string): Connection {
  const db = Connection.forWriting(path)
  try {
    if (db.get(`SELECT 1 FROM sqlite_schema WHERE name = '$sheet'`) === undefined) {
      throw new RecordsError(
        'sheet.db is not the store of a sheet; move it away and it is made anew from records.jsonl',
      )
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
