import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../../../errors/service-error.ts'
import type { SnapshotAnswer } from '../../sheet-files/snapshot-worker.ts'
import { copyStore } from './snapshot.ts'
import type { SnapshotOrder } from './take-snapshot.ts'

/** A thread that copies a store and ends. */
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
