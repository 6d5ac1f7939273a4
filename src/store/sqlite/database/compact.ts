import { setTimeout as sleep } from 'node:timers/promises'
import { LockTimeoutError } from '../../../errors/service-error.ts'
import { Connection, sqliteCode, whenFree } from './connection.ts'

/** The time for which other connections of the store may read or write before it is left as it is, in milliseconds. */
const WAIT_MS = 10_000
const RETRY_MS = 20

/**
 * Writes a store anew, so that no free page and no write-ahead log has values that were deleted; returns false where that was not
 * possible, as on a full disk or while another connection reads for long. Takes about as long as copying the file twice.
 */
export async function compact(path: string): Promise<boolean> {
  const deadline = performance.now() + WAIT_MS
  const db = Connection.forWriting(path)
  try {
    // Otherwise the copy that SQLite makes would be in memory.
    db.exec('PRAGMA temp_store=FILE')
    await whenFree({ deadline, what: 'the store' }, () => db.exec('VACUUM'))
    while (Number(db.get('PRAGMA wal_checkpoint(TRUNCATE)')?.['busy']) !== 0) {
      if (performance.now() >= deadline) return false
      await sleep(RETRY_MS)
    }
    return true
  } catch (error) {
    if (error instanceof LockTimeoutError || sqliteCode(error) !== undefined) return false
    throw error
  } finally {
    db.close()
  }
}
