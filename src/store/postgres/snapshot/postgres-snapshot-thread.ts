import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../../../errors/service-error.ts'
import type { SnapshotResult } from '../../sheet-files/snapshot-worker.ts'
import { copyStore } from './snapshot.ts'
import type { SnapshotOrder } from './take-snapshot.ts'

/** Copies a store on this thread, and ends it. */
async function copy({ location, directory }: SnapshotOrder): Promise<SnapshotResult> {
  try {
    return { snapshot: await copyStore(location, directory) }
  } catch (error) {
    const plain = toPlainError(error)
    if (plain === undefined) throw error
    return { refused: plain }
  }
}

parentPort?.postMessage(await copy(workerData as SnapshotOrder))
