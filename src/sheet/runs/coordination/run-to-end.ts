import type { StoredRun } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { RunReleasedError } from './run-released-error.ts'
import { awaitReleasedRun } from './run-shared.ts'
import type { Sheet } from '../../sheet.ts'
import { withRunLock } from './with-run-lock.ts'
import { workToEnd } from './work-to-end.ts'

/** The work of a run that one process executes as a whole. */
export interface RunWork<T> {
  work(): Promise<T>
  /** Returns the result when another process executed the run. */
  resultOf(run: StoredRun): Promise<T>
  /** Called when another process executes the run. */
  onReleased?(): void
}

/**
 * Waits for the run lock, does the work of a run, and stores how it ended before it releases the lock. Throws what the
 * work throws, LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function runToEnd<T>(sheet: Sheet, active: ActiveRun, run: RunWork<T>): Promise<T> {
  const { store } = await sheet.current()
  const { work, resultOf, onReleased } = run
  try {
    return await withRunLock(sheet, active, () => workToEnd({ sheet, store, active }, work))
  } catch (error) {
    if (!(error instanceof RunReleasedError)) throw error
    onReleased?.()
    return resultOf(await awaitReleasedRun({ sheet, store, active }, error))
  }
}
