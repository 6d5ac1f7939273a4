import type { StoreSnapshot } from '../../sheet-store.ts'
import { snapshotInThread } from '../../sheet-files/snapshot-worker.ts'

/** The store to copy, and the directory to copy it to. */
export interface SnapshotOrder {
  readonly database: string
  readonly directory: string
}

/**
 * Copies a store into a directory (see copyStore) on a separate thread. Throws RecordsError where reading or writing fails.
 */
export function takeSnapshot(database: string, directory: string): Promise<StoreSnapshot> {
  // The extension of this file: TypeScript in the repository, JavaScript in the package.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const order: SnapshotOrder = { database, directory }
  return snapshotInThread(new URL(`./snapshot-thread${extension}`, import.meta.url), order)
}
