import { OperationError } from '../../errors/service-error.ts'
import { OrphanRecovery } from './coordination/orphan-recovery.ts'
import type { Sheet } from '../sheet.ts'
import { TaskRunner } from './tasks/task-runner.ts'

/** A running worker of a sheet. */
export interface Worker {
  /**
   * Takes no more tasks, waits up to `graceMs` milliseconds for those under way, and leaves the rest to other
   * processes.
   */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts a worker that computes cells of all runs of a sheet in PostgreSQL, until it is stopped. Throws OperationError
 * for a sheet in a directory, RecordsError while the store cannot be used.
 */
export async function startWorker(sheet: Sheet): Promise<Worker> {
  const { store } = await sheet.current()
  if (store.tasks === undefined) {
    throw new OperationError(
      'the sheet is in a directory, where the process that begins a run computes it; workers are for a sheet in PostgreSQL: put it there with colophon push',
    )
  }
  const runner = new TaskRunner(sheet, store.tasks, { local: false })
  const recovery = new OrphanRecovery(sheet)
  return {
    stop: async (graceMs) => {
      await Promise.all([runner.stop(graceMs), recovery.stop()])
    },
  }
}
