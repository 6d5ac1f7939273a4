import { freeMemorySoon, heapSize } from '../../../store/sheet-files/free-memory.ts'
import type { RevertResult } from '../../../store/sheet-store.ts'
import type { ActiveRun } from '../../active-run.ts'
import { keepFresh } from '../selection/keep-fresh.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'
import type { LockedRun } from './accepted-run.ts'
import { endRun, endRunEarly } from './end-run.ts'
import { coordinateRun } from './run-coordinator.ts'
import { RunReleasedError } from './run-released-error.ts'
import { undoRun, type RevertOrder } from './undo-run.ts'

/**
 * Does the work of a run, stores how it ended, and publishes that. Returns the result of a revert, and null for any other run. Throws the
 * error that ended the run early, and RunReleasedError when it has not ended.
 */
export async function runToEnd(run: LockedRun): Promise<RevertResult | null> {
  const { active, frames } = run
  const heap = heapSize()
  try {
    const result = await finish(run)
    run.sheet.checkpoints.makeSoon()
    frames.end(active.feed.progress)
    return result
  } catch (error) {
    if (error instanceof RunReleasedError) throw error
    try {
      await endRunEarly(run, error)
    } catch (fault) {
      // A run whose end cannot be stored has not ended; an internal error will occur again in the next process.
      if (isShared(run) && isStoreUnavailable(fault)) throw new RunReleasedError((fault as Error).message)
    }
    run.sheet.checkpoints.makeSoon()
    frames.error(error)
    throw error
  } finally {
    freeMemorySoon(heap)
  }
}

/** Does the work of a run and stores that it finished. */
async function finish(run: LockedRun): Promise<RevertResult | null> {
  if (hasTasks(run)) {
    await coordinateRun(run)
    return null
  }
  const { sheet, store, active, order } = run
  const { actor, reverts, keepFresh: file } = order
  active.signal.throwIfAborted()
  const result = reverts === null ? null : await undo({ sheet, store }, active, { actor, reverts })
  if (file !== undefined) await keepFresh(sheet, { ...order, keepFresh: file }, active)
  await endRun(run)
  return result
}

async function undo(
  { sheet, store }: Pick<LockedRun, 'sheet' | 'store'>,
  active: ActiveRun,
  order: RevertOrder,
): Promise<RevertResult> {
  const { derivations } = await sheet.deriving()
  return undoRun({ store, derivations: derivations.levels.flat() }, active, order)
}

/** Whether a run is divided into tasks, and not executed as a whole. */
function hasTasks({ order }: LockedRun): boolean {
  return order.reverts === null && order.keepFresh === undefined
}

/** Whether another process can continue a run that has begun. */
function isShared(run: LockedRun): boolean {
  return run.store.tasks !== undefined && hasTasks(run)
}
