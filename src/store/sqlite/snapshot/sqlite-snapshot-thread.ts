import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../../../errors/service-error.ts'
import type { SnapshotResult } from '../../sheet-files/snapshot-worker.ts'
import { asRecordsError } from '../database/connection.ts'
import { copyStore } from './snapshot.ts'
import type { SnapshotOrder } from './take-snapshot.ts'

/** Copies a store on this thread, and ends it. */
function copy({ database, directory }: SnapshotOrder): SnapshotResult {
  try {
    return { snapshot: copyStore(database, directory) }
  } catch (thrown) {
    const error = asRecordsError(thrown)
    const plain = toPlainError(error)
    if (plain === undefined) throw error
    return { refused: plain }
  }
}

parentPort?.postMessage(copy(workerData as SnapshotOrder))
