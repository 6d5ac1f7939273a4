import { ServiceError } from '../errors/service-error.ts'
import type { RunLock, SheetStore } from '../store/sheet-store.ts'
import type { RunEnd } from '../store/stored-run.ts'
import type { ActiveRun } from './active-run.ts'
import type { Sheet } from './sheet.ts'

/** How long a run that waits may be silent before it is taken for dead. */
export const SILENT_MS = 6000

/**
 * Waits for the run lock, does the work of a run, and has the store know how it ended before the lock is let go. Throws
 * what the work throws, LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function runToEnd<T>(sheet: Sheet, active: ActiveRun, work: () => Promise<T>): Promise<T> {
  const { store } = await sheet.current()
  const end = async (how: Pick<RunEnd, 'state' | 'error'>): Promise<void> => {
    const cancelledBy = how.state === 'cancelled' ? active.cancelledBy : null
    await store.endRun(active.id, { ...how, cancelledBy, progress: active.feed.progress })
    // The run has ended, whether or not those who watch can be told how.
    const ended = await store.run(active.id).catch(() => null)
    if (ended !== null) active.feed.end(ended)
  }
  let release = (): void => undefined
  try {
    const lock = await waitForLock(sheet, store, active)
    release = () => lock.release()
    await store.interruptRuns(active.id)
    const result = await work()
    await end({ state: 'finished', error: null })
    return result
  } catch (error) {
    // Where the store cannot be written any more, the run is found to be interrupted later.
    await end({ state: stateAfter(error, active, sheet), error: toldOf(error) }).catch(() => undefined)
    throw error
  } finally {
    release()
  }
}

/** Waits for the run lock, and has the store know that it does: a run that is silent for long is taken for dead. */
async function waitForLock(sheet: Sheet, store: SheetStore, { id, signal }: ActiveRun): Promise<RunLock> {
  const beat = setInterval(() => {
    // A store that cannot be written just now hears of it the next time.
    void store.keepWaiting(id, SILENT_MS).catch(() => undefined)
  }, SILENT_MS / 3)
  try {
    return await store.lockRun(sheet.lockTimeoutMs, signal)
  } finally {
    clearInterval(beat)
  }
}

function stateAfter(error: unknown, active: ActiveRun, sheet: Sheet): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}

/** What callers are told of an error. */
export function toldOf(error: unknown): NonNullable<RunEnd['error']> {
  if (error instanceof ServiceError) return { type: error.type, message: error.message }
  return { type: 'ServiceError', message: 'internal error' }
}
