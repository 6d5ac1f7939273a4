import type { StoreSnapshot } from '../../sheet-store.ts'
import { snapshotInThread } from '../../sheet-files/snapshot-worker.ts'
import { entryModule } from '../../../package/package-files.ts'

/** The store to copy, and the directory to copy it to. */
export interface SnapshotOrder {
  readonly database: string
  readonly directory: string
}

/**
 * Copies a store into a directory (see copyStore) on a separate thread. Throws RecordsError where reading or writing fails.
 */
export function takeSnapshot(database: string, directory: string): Promise<StoreSnapshot> {
  const order: SnapshotOrder = { database, directory }
  return snapshotInThread(entryModule(import.meta.url, 'sqlite-snapshot-thread'), order)
}
