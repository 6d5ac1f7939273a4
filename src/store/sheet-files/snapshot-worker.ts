import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { fromPlainError, type PlainServiceError } from '../../errors/service-error.ts'
import type { StoreSnapshot } from '../sheet-store.ts'

/** The message of a copying thread. */
export type SnapshotResult = { readonly snapshot: StoreSnapshot } | { readonly refused: PlainServiceError }

/** MiB for short-lived objects such as rows: without a bound V8 enlarges this space as the copy goes on. */
const YOUNG_MB = 16

/** Copies a store on a separate thread and returns its result. Throws the errors of the thread. */
export async function snapshotInThread(thread: URL, workerData: unknown): Promise<StoreSnapshot> {
  const worker = new Worker(thread, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
  // Rejects with a bug of the thread, should it end by one.
  const [result] = (await once(worker, 'message')) as [SnapshotResult]
  if ('refused' in result) throw fromPlainError(result.refused)
  return result.snapshot
}
