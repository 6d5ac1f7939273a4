import { OperationError } from '../../errors/service-error.ts'
import { OrphanRecovery } from './coordination/orphan-recovery.ts'
import type { Sheet } from '../sheet.ts'
import { TaskRunner } from './tasks/task-runner.ts'

/** A worker of a sheet under way. */
export interface Worker {
  /** Takes no more work, gives what is under way so many milliseconds, and leaves the rest to others. */
  stop(graceMs: number): Promise<void>
}

/**
 * Computes cells of all runs of a sheet whose store processes share, until it is stopped. Throws OperationError for a sheet in
 * a directory, RecordsError while the store cannot be used.
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
