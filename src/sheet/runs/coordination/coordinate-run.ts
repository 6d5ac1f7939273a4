import { RunStoppedError } from '../../../errors/service-error.ts'
import { TaskLostError } from '../../../store/run-tasks.ts'
import { RunCoordinator } from './run-coordinator.ts'
import type { LockedRun } from './coordinated-run.ts'
import { endRun, endRunEarly } from './end-run.ts'
import { releasedByShutdown, RunReleasedError } from './run-released-error.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'

/**
 * Coordinates a run to its end, stores how it ended, and publishes that. Throws the error that ended it early, and
 * RunReleasedError when it has not ended.
 */
export async function coordinateRun(run: LockedRun): Promise<void> {
  const { sheet, store, active, order, frames } = run
  const coordinator = new RunCoordinator(run)
  try {
    await coordinator.run(order)
    await endRun(store, active, { state: 'finished', error: null })
    frames.end(active.feed.progress)
  } catch (error) {
    if (error instanceof RunReleasedError) throw error
    const stops = sheet.stopping.aborted && error === sheet.stopping.reason
    if (stops && (sheet.handOverRuns || run.wasOrphaned === true)) {
      await coordinator.handOver()
      throw releasedByShutdown(active.id)
    }
    if (error instanceof TaskLostError) {
      await coordinator.handOver()
      throw new RunReleasedError(error.message)
    }
    if (isStoreUnavailable(error)) throw new RunReleasedError((error as Error).message)
    await coordinator.stopTasks().catch((fault: unknown) => {
      // Without its last counts the run would end with fewer calls than it has made.
      if (isStoreUnavailable(fault)) throw new RunReleasedError((fault as Error).message)
    })
    if (error instanceof RunStoppedError) coordinator.skipRest()
    try {
      await endRunEarly(run, error)
    } catch (fault) {
      // A run whose end cannot be stored has not ended; an internal error will occur again in the next process.
      if (isStoreUnavailable(fault)) throw new RunReleasedError((fault as Error).message)
    }
    frames.error(error)
    throw error
  } finally {
    await coordinator.close()
  }
}
