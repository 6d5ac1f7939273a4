import { RunStoppedError } from '../errors/service-error.ts'
import { TaskLostError } from '../store/run-tasks.ts'
import { RunConductor } from './conduct-run.ts'
import type { LockedRun } from './conducted-run.ts'
import { endRun, endRunEarly } from './end-run.ts'
import { isLeft, leftByStopping, RunLeftError } from './run-left.ts'
import { isTrouble } from './task-runner.ts'

/**
 * Has a run computed to its end, notes how it ended, and tells of it. Throws what ended it early; an error that {@link isLeft} where it has not ended.
 */
export async function conductLocked(run: LockedRun): Promise<void> {
  const { sheet, store, active, order, frames } = run
  const conductor = new RunConductor(run)
  try {
    await conductor.run(order)
    await endRun(store, active, { state: 'finished', error: null })
    frames.end(active.feed.progress)
  } catch (error) {
    if (isLeft(error)) throw error
    const stops = sheet.stopping.aborted && error === sheet.stopping.reason
    if (stops && (sheet.handsRunsOver || run.wasLeft === true)) {
      await conductor.handOver()
      throw leftByStopping(active.id)
    }
    if (error instanceof TaskLostError) {
      await conductor.handOver()
      throw new RunLeftError(error.message)
    }
    if (isTrouble(error)) throw new RunLeftError((error as Error).message)
    await conductor.letGo().catch(() => undefined)
    if (error instanceof RunStoppedError) conductor.skipRest()
    try {
      await endRunEarly(run, error)
    } catch (fault) {
      // A run whose end cannot be noted has not ended; what is a fault of the program will be one again.
      if (isTrouble(fault)) throw new RunLeftError((fault as Error).message)
    }
    frames.error(error)
    throw error
  } finally {
    await conductor.close()
  }
}
