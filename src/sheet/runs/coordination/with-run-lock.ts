import { RecordsError } from '../../../errors/service-error.ts'
import type { RunLock } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { endRunEarly, endWaitingEarly, type EndingRun } from './end-run.ts'
import { finishOrphanedRuns } from './finish-orphaned-runs.ts'
import { isLeft, leftByStopping, RunLeftError } from './run-left-error.ts'
import type { Sheet } from '../../sheet.ts'
import { isTrouble } from '../tasks/task-runner.ts'

/** How long a run that waits may be silent before it is taken for dead. */
export const SILENT_MS = 6000

/**
 * Waits for the run lock and does something with it, once runs that come first are done with: those that had it before, and where
 * processes share runs those that waited before, and whose processes are gone. Throws what the work throws. A run that does not begin is
 * noted as ended: then it throws LockTimeoutError, or the reason of the run's signal when that is aborted. Throws an error that
 * {@link isLeft} where another process carries the run out.
 */
export async function withRunLock<T>(
  sheet: Sheet,
  active: ActiveRun,
  work: (lock: RunLock) => Promise<T>,
): Promise<T> {
  const { store } = await sheet.current()
  const lock = await lockFor({ sheet, store, active })
  try {
    return await work(lock)
  } finally {
    lock.release()
  }
}

async function lockFor(run: EndingRun): Promise<RunLock> {
  const { sheet, store, active } = run
  // A run that is silent for long is taken for dead.
  const heartbeat = setInterval(() => {
    // A store that cannot be written just now hears of it the next time.
    void store.keepWaiting(active.id, SILENT_MS).catch(() => undefined)
  }, SILENT_MS / 3)
  let lock: RunLock | null = null
  try {
    lock = await store.lockRun(sheet.lockTimeoutMs, active.signal)
    if (store.tasks !== undefined) {
      await finishOrphanedRuns(sheet, store, { lock, waiting: active })
      if (!(await store.tasks.claim(active.id, { left: false }))) throw ofAnother(active)
    }
    await store.interruptRuns(active.id)
    return lock
  } catch (error) {
    lock?.release()
    throw await notBegun(run, error)
  } finally {
    clearInterval(heartbeat)
  }
}

/** Notes that a run does not begin here, and returns why. */
async function notBegun(run: EndingRun, error: unknown): Promise<unknown> {
  const { sheet, store, active } = run
  const { tasks } = store
  const reason: unknown = active.signal.aborted ? active.signal.reason : error
  if (tasks === undefined) {
    // Where the store cannot be written any more, the run is found to be interrupted later.
    await endRunEarly(run, reason).catch(() => undefined)
    return reason
  }
  if (isLeft(error)) return error
  try {
    if (sheet.handsRunsOver && reason === sheet.stopping.reason) {
      await tasks.leaveWaiting(active.id)
      return leftByStopping(active.id)
    }
    // Whether it has been taken over cannot be known; if not, it is in a few seconds.
    if (reason instanceof RecordsError) return new RunLeftError(reason.message)
    return (await endWaitingEarly(run, tasks, reason)) ? reason : ofAnother(active)
  } catch (fault) {
    if (isTrouble(fault)) return new RunLeftError((fault as Error).message)
    throw fault
  }
}

function ofAnother({ id }: ActiveRun): RunLeftError {
  return new RunLeftError(`another process has taken run ${id} over`)
}
