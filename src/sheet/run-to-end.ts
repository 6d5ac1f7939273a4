import type { ActiveRun } from './active-run.ts'
import { endRun, endRunEarly } from './end-run.ts'
import type { Sheet } from './sheet.ts'
import { withRunLock } from './with-run-lock.ts'

/**
 * Waits for the run lock, does the work of a run, and has the store know how it ended before the lock is let go. Throws
 * what the work throws, LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function runToEnd<T>(sheet: Sheet, active: ActiveRun, work: () => Promise<T>): Promise<T> {
  const { store } = await sheet.current()
  let isOver = false
  const endEarly = async (reason: unknown): Promise<void> => {
    if (isOver) return
    isOver = true
    // Where the store cannot be written any more, the run is found to be interrupted later.
    await endRunEarly({ sheet, store, active }, reason).catch(() => undefined)
  }
  try {
    return await withRunLock(sheet, active, async () => {
      try {
        const result = await work()
        await endRun(store, active, { state: 'finished', error: null })
        return result
      } catch (error) {
        await endEarly(error)
        throw error
      }
    })
  } catch (error) {
    await endEarly(error)
    throw error
  }
}
