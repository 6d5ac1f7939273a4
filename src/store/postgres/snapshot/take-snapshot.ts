import type { StoreSnapshot } from '../../sheet-store.ts'
import { snapshotInThread } from '../../sheet-files/snapshot-worker.ts'
import type { StoreLocation } from '../database/store-url.ts'
import { entryModule } from '../../../package/package-files.ts'

/** The store to copy, and the directory to copy it to. */
export interface SnapshotOrder {
  readonly location: StoreLocation
  readonly directory: string
}

/**
 * Copies a store into a directory (see copyStore) on a separate thread. Throws RecordsError where reading or writing fails.
 */
export function takeSnapshot(location: StoreLocation, directory: string): Promise<StoreSnapshot> {
  const order: SnapshotOrder = { location, directory }
  return snapshotInThread(entryModule(import.meta.url, 'postgres-snapshot-thread'), order)
}
