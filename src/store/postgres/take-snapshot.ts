import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { fromPlainError, type PlainServiceError } from '../../errors/service-error.ts'
import type { StoreSnapshot } from '../sheet-store.ts'
import type { StoreLocation } from './store-url.ts'

/** What the copying thread is to copy, and where to. */
export interface SnapshotOrder {
  readonly location: StoreLocation
  readonly directory: string
}

/** What the copying thread says. */
export type SnapshotAnswer = { readonly snapshot: StoreSnapshot } | { readonly refused: PlainServiceError }

/**
 * Copies a store into a directory (see copyStore) on a thread of its own, so that nobody else waits. Throws RecordsError
 * where reading or writing fails.
 */
export async function takeSnapshot(location: StoreLocation, directory: string): Promise<StoreSnapshot> {
  // The same extension as this file's: TypeScript in the repository, JavaScript in the package.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const workerData: SnapshotOrder = { location, directory }
  const worker = new Worker(new URL(`./snapshot-thread${extension}`, import.meta.url), { workerData })
  // Rejects with a fault of the program, should the thread end by one.
  const [answer] = (await once(worker, 'message')) as [SnapshotAnswer]
  if ('refused' in answer) throw fromPlainError(answer.refused)
  return answer.snapshot
}
