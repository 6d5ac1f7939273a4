import { join } from 'node:path'
import { lookAtFile, SheetFileError, type SheetPath } from './definition/sheet-paths.ts'

/** Files that the store reads and writes by their names. */
const FOLLOWED = ['sheet.db', 'provenance.jsonl', 'records.jsonl']

/**
 * Files beside the store; SQLite follows no links to these. The journal of the lock is there while a run has it, and after
 * a kill; as that of an empty database it is never played back, but deleted.
 */
const OWN = ['sheet.db-wal', 'sheet.db-shm', 'sheet.db-lock', 'sheet.db-lock-journal']

/**
 * Files that a store never has, since it keeps a write-ahead log and its lock is empty. Of one that somebody planted
 * SQLite might play back what it says.
 */
const JOURNALS = ['sheet.db-journal', 'sheet.db-lock-wal']

/**
 * Looks at the files of a store before it is opened, since a sheet may come from a stranger. Throws SheetFileError for
 * links out of the sheet, for what is no regular file, and for journals.
 */
export function checkStoreFiles(directory: string): void {
  const place = (name: string): SheetPath => ({ directory, path: join(directory, name), name })
  for (const name of FOLLOWED) lookAtFile(place(name))
  for (const name of OWN) {
    const entry = lookAtFile(place(name))
    if (entry === null) continue
    if (entry.realPath !== join(directory, name)) {
      throw new SheetFileError(`${name} is a symbolic link; delete it, and it is made when it is needed`)
    }
    if (name === 'sheet.db-lock' && entry.stats.size > 0) {
      throw new SheetFileError(
        `${name} is not empty, as a lock is; delete it, and it is made when it is needed`,
      )
    }
  }
  for (const name of JOURNALS) {
    if (lookAtFile(place(name)) === null) continue
    throw new SheetFileError(`${name} is no file of a sheet: a store has none; delete it, or move it away`)
  }
}
