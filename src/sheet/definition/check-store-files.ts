import { join } from 'node:path'
import { lookAtFile, SheetFileError, type SheetPath } from '../../store/sheet-files/sheet-paths.ts'

/** Files that the store opens by name; each may be a symbolic link within the sheet. */
const FOLLOWED = ['sheet.db', 'provenance.jsonl', 'checkpoints.txt', 'records.jsonl']

/**
 * Files beside the store, which may not be links, since SQLite does not follow them. The lock's journal exists while a
 * run holds the lock, and after a kill. It is the journal of an empty database, so that SQLite deletes it and never
 * plays it back.
 */
const OWN = ['sheet.db-wal', 'sheet.db-shm', 'sheet.db-lock', 'sheet.db-lock-journal']

/**
 * Journals that a store never has: it uses a write-ahead log, and its lock is empty. SQLite would play back one that an
 * attacker put there.
 */
const JOURNALS = ['sheet.db-journal', 'sheet.db-lock-wal']

/**
 * Checks the files of a store before it is opened, since a sheet may come from an untrusted source. Throws
 * SheetFileError for links out of the sheet, for what is not a regular file, and for journals.
 */
export function checkStoreFiles(directory: string): void {
  const pathOf = (name: string): SheetPath => ({ directory, path: join(directory, name), name })
  for (const name of FOLLOWED) lookAtFile(pathOf(name))
  for (const name of OWN) {
    const entry = lookAtFile(pathOf(name))
    if (entry === null) continue
    if (entry.realPath !== join(directory, name)) {
      throw new SheetFileError(name, 'is a symbolic link; delete it, it is created when needed')
    }
    if (name === 'sheet.db-lock' && entry.stats.size > 0) {
      throw new SheetFileError(
        name,
        'is not empty, but a lock has to be; delete it, it is created when needed',
      )
    }
  }
  for (const name of JOURNALS) {
    if (lookAtFile(pathOf(name)) === null) continue
    throw new SheetFileError(
      name,
      'does not belong in a sheet: a store never has one; delete it, or move it away',
    )
  }
}
