import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError } from '../../errors/service-error.ts'
import { OtherStore } from '../../store/sqlite/read/other-store.ts'

const TRIES = 5
const WAIT_MS = 20

/**
 * Reads the store of another sheet in one state, which may be that of a server. No file is created, and the database and its
 * write-ahead log are not changed: beside `-wal` and `-shm`, SQLite locks the store as any reader does and writes to `-shm`. Throws RecordsError for
 * a store that is damaged, manipulated or of another version, and LockTimeoutError for one that stays locked.
 */
export async function withOtherStore<T>(
  directory: string,
  read: (store: OtherStore) => Promise<T>,
): Promise<T> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const store = OtherStore.open(directory)
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

export type { OtherStore }
