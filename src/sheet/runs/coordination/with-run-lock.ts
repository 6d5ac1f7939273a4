import { RecordsError } from '../../../errors/service-error.ts'
import type { RunLock } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { AcceptedRun } from './accepted-run.ts'
import { endRunEarly, endWaitingEarly } from './end-run.ts'
import { finishOrphanedRuns } from './finish-orphaned-runs.ts'
import { releasedByShutdown, RunReleasedError } from './run-released-error.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'

/** The time, in milliseconds, after which a waiting run without a heartbeat counts as orphaned. */
export const SILENT_MS = 6000

/**
 * Waits for the run lock and does the work of a run. Before that it finishes earlier runs that are orphaned: those that
 * had the lock, and, where processes share runs, those that waited for it. Throws what the work throws. A run that does
 * not begin is stored as ended: then it throws LockTimeoutError, or the reason of the run's signal when that is
 * aborted. Throws RunReleasedError when another process executes the run.
 */
export async function withRunLock<T>(run: AcceptedRun, work: (lock: RunLock) => Promise<T>): Promise<T> {
  const lock = await lockFor(run)
  try {
    return await work(lock)
  } finally {
    lock.release()
  }
}

async function lockFor(run: AcceptedRun): Promise<RunLock> {
  const { sheet, store, active } = run
  // Without it the waiting run would count as orphaned.
  const heartbeat = setInterval(() => {
    // A heartbeat that fails is followed by the next.
    void store.keepWaiting(active.id, SILENT_MS).catch(() => undefined)
  }, SILENT_MS / 3)
  let lock: RunLock | null = null
  try {
    lock = await store.lockRun(sheet.lockTimeoutMs, active.signal)
    if (store.tasks !== undefined) {
      await finishOrphanedRuns(sheet, store, { lock, waiting: active })
      if (!(await store.tasks.claim(active.id, { orphaned: false }))) throw takenOver(active)
    }
    await store.interruptRuns(active.id)
    return lock
  } catch (error) {
    lock?.release()
    throw await endUnstarted(run, error)
  } finally {
    clearInterval(heartbeat)
  }
}

/** Stores that a run does not begin in this process, and returns the reason. */
async function endUnstarted(run: AcceptedRun, error: unknown): Promise<unknown> {
  const { sheet, store, active } = run
  const { tasks } = store
  const reason: unknown = active.signal.aborted ? active.signal.reason : error
  if (tasks === undefined) {
    // When the store cannot be written, the run is found to be interrupted later.
    await endRunEarly(run, reason).catch(() => undefined)
    return reason
  }
  if (error instanceof RunReleasedError) return error
  try {
    if (sheet.handOverRuns && reason === sheet.stopping.reason) {
      await tasks.leaveWaiting(active.id)
      return releasedByShutdown(active.id)
    }
    // Another process may have taken it over; if not, one does in a few seconds.
    if (reason instanceof RecordsError) return new RunReleasedError(reason.message)
    return (await endWaitingEarly(run, tasks, reason)) ? reason : takenOver(active)
  } catch (fault) {
    if (isStoreUnavailable(fault)) return new RunReleasedError((fault as Error).message)
    throw fault
  }
}

function takenOver({ id }: ActiveRun): RunReleasedError {
  return new RunReleasedError(`another process has taken run ${id} over`)
}
