import { RunStoppedError } from '../../../errors/service-error.ts'
import { TaskLostError } from '../../../store/run-tasks.ts'
import { RunCoordinator } from './run-coordinator.ts'
import type { LockedRun } from './coordinated-run.ts'
import { endRun, endRunEarly } from './end-run.ts'
import { isLeft, leftByStopping, RunLeftError } from './run-left-error.ts'
import { isTrouble } from '../tasks/task-runner.ts'

/**
 * Has a run computed to its end, notes how it ended, and tells of it. Throws what ended it early; an error that {@link isLeft} where it has not ended.
 */
export async function coordinateRun(run: LockedRun): Promise<void> {
  const { sheet, store, active, order, frames } = run
  const coordinator = new RunCoordinator(run)
  try {
    await coordinator.run(order)
    await endRun(store, active, { state: 'finished', error: null })
    frames.end(active.feed.progress)
  } catch (error) {
    if (isLeft(error)) throw error
    const stops = sheet.stopping.aborted && error === sheet.stopping.reason
    if (stops && (sheet.handsRunsOver || run.wasLeft === true)) {
      await coordinator.handOver()
      throw leftByStopping(active.id)
    }
    if (error instanceof TaskLostError) {
      await coordinator.handOver()
      throw new RunLeftError(error.message)
    }
    if (isTrouble(error)) throw new RunLeftError((error as Error).message)
    await coordinator.letGo().catch(() => undefined)
    if (error instanceof RunStoppedError) coordinator.skipRest()
    try {
      await endRunEarly(run, error)
    } catch (fault) {
      // A run whose end cannot be noted has not ended; what is a fault of the program will be one again.
      if (isTrouble(fault)) throw new RunLeftError((fault as Error).message)
    }
    frames.error(error)
    throw error
  } finally {
    await coordinator.close()
  }
}
