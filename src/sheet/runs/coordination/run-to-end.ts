import type { StoredRun } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { isLeft } from './run-left-error.ts'
import { endElsewhere } from './run-shared.ts'
import type { Sheet } from '../../sheet.ts'
import { withRunLock } from './with-run-lock.ts'
import { workToEnd } from './work-to-end.ts'

/** The work of a run that one process carries out. */
export interface RunWork<T> {
  work(): Promise<T>
  /** What it came to where another process carried it out. */
  resultOf(run: StoredRun): Promise<T>
  /** Called when another process carries it out. */
  onLeft?(): void
}

/**
 * Waits for the run lock, does the work of a run, and has the store know how it ended before the lock is let go. Throws
 * what the work throws, LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function runToEnd<T>(sheet: Sheet, active: ActiveRun, run: RunWork<T>): Promise<T> {
  const { store } = await sheet.current()
  const { work, resultOf, onLeft } = run
  try {
    return await withRunLock(sheet, active, () => workToEnd({ sheet, store, active }, work))
  } catch (error) {
    if (!isLeft(error)) throw error
    onLeft?.()
    return resultOf(await endElsewhere({ sheet, store, active }, error))
  }
}
