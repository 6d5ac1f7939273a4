import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError } from '../../errors/service-error.ts'
import { openDatabase } from '../../store/sqlite/database/open-database.ts'
import { OtherStore } from '../../store/sqlite/read/other-store.ts'
import { StoreTexts } from '../../store/sqlite/read/store-texts.ts'

const TRIES = 5
const WAIT_MS = 20

/**
 * Reads the store of another sheet in one state, which may be that of a server. No file is created, and the database and its
 * write-ahead log are not changed: beside `-wal` and `-shm`, SQLite locks the store as any reader does and writes to `-shm`. Throws RecordsError for
 * a store that is damaged, manipulated or of another version, and LockTimeoutError for one that stays locked.
 */
export function withOtherStore<T>(directory: string, read: (store: OtherStore) => Promise<T>): Promise<T> {
  return inOneState(() => OtherStore.open(directory), read)
}

/** Reads the texts of the store in a sheet's directory as {@link withOtherStore} does. */
export function withStoreTexts<T>(directory: string, read: (store: StoreTexts) => Promise<T>): Promise<T> {
  return inOneState(() => StoreTexts.open(directory), read)
}

/** Migrates the copy of a store to this version. Throws RecordsError for anything but a store. */
export async function migrateCopy(directory: string): Promise<void> {
  const wait = { deadline: performance.now() + TRIES * WAIT_MS, what: 'sheet.db' }
  const { db } = await openDatabase(join(directory, 'sheet.db'), wait)
  db.close()
}

async function inOneState<S extends { isUnchanged: () => boolean; close: () => void }, T>(
  open: () => S | null,
  read: (store: S) => Promise<T>,
): Promise<T> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const store = open()
    if (store !== null) {
      try {
        const result = await read(store)
        if (store.isUnchanged()) return result
      } finally {
        store.close()
      }
    }
    await delay(WAIT_MS)
  }
  throw new LockTimeoutError('its sheet.db is locked, or is being changed; try again later')
}

export type { OtherStore, StoreTexts }
