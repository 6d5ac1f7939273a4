import { lstatSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LockTimeoutError, RecordsError } from '../../../errors/service-error.ts'
import type { RunLock } from '../../stored-run.ts'
import { beginWhenFree } from './connection.ts'

/** Milliseconds to wait at least: others hold the lock for a moment, to check whether it is taken. */
const LEAST_MS = 50

/**
 * Takes the lock that one process has at a time (D31), on a separate database beside the store: an exclusive transaction
 * that is held open. The operating system releases it when its holder dies, and nothing is ever written to the file.
 *
 * Throws LockTimeoutError when it is not free within `timeoutMs`, the signal's reason when aborted, and RecordsError for a
 * file that is not a lock: SQLite would follow a link, and play back the journal of a database that is not empty.
 */
export async function takeRunLock(path: string, timeoutMs: number, signal?: AbortSignal): Promise<RunLock> {
  refuseNoLock(path)
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    await beginWhenFree(db, 'EXCLUSIVE', {
      deadline: performance.now() + Math.max(timeoutMs, LEAST_MS),
      ...(signal === undefined ? {} : { signal }),
      what: 'the run lock',
    })
  } catch (error) {
    db.close()
    if (error instanceof LockTimeoutError) {
      throw new LockTimeoutError(
        `another run of this sheet is under way and did not end within ${timeoutMs / 1000} s; try again later`,
        'run_in_progress',
      )
    }
    throw error
  }
  return { release: () => db.close() }
}

function refuseNoLock(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || (stats.isFile() && stats.size === 0)) return
  throw new RecordsError(
    `${basename(path)} is not an empty file; delete it, and it is made when it is needed`,
  )
}
