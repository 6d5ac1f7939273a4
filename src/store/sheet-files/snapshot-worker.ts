import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { fromPlainError, type PlainServiceError } from '../../errors/service-error.ts'
import type { StoreSnapshot } from '../sheet-store.ts'

/** What a copying thread says. */
export type SnapshotAnswer = { readonly snapshot: StoreSnapshot } | { readonly refused: PlainServiceError }

/** For the objects of rows, which are garbage soon: without a bound V8 makes this larger and larger the longer the copy takes. */
const YOUNG_MB = 16

/**
 * Has a thread of its own copy a store, so that nobody else waits, and answers with what it says. Throws the errors that the
 * thread tells of.
 */
export async function snapshotInThread(thread: URL, workerData: unknown): Promise<StoreSnapshot> {
  const worker = new Worker(thread, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
  // Rejects with a fault of the program, should the thread end by one.
  const [answer] = (await once(worker, 'message')) as [SnapshotAnswer]
  if ('refused' in answer) throw fromPlainError(answer.refused)
  return answer.snapshot
}
