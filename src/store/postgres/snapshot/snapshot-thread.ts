import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../../../errors/service-error.ts'
import type { SnapshotAnswer } from '../../sheet-files/snapshot-worker.ts'
import { copyStore } from './snapshot.ts'
import type { SnapshotOrder } from './take-snapshot.ts'

/** Copies a store on this thread, and ends it. */
async function answer({ location, directory }: SnapshotOrder): Promise<SnapshotAnswer> {
  try {
    return { snapshot: await copyStore(location, directory) }
  } catch (error) {
    const plain = toPlainError(error)
    if (plain === undefined) throw error
    return { refused: plain }
  }
}

parentPort?.postMessage(await answer(workerData as SnapshotOrder))
