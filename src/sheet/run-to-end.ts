import { ServiceError } from '../errors/service-error.ts'
import type { RunEnd } from '../store/stored-run.ts'
import type { ActiveRun } from './active-run.ts'
import type { Sheet } from './sheet.ts'

/**
 * Waits for the run lock, does the work of a run, and has the store know how it ended before the lock is let go. Throws
 * what the work throws, LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function runToEnd<T>(sheet: Sheet, active: ActiveRun, work: () => Promise<T>): Promise<T> {
  const { store } = await sheet.current()
  const end = async (how: Pick<RunEnd, 'state' | 'error'>): Promise<void> => {
    await store.endRun(active.id, { ...how, progress: active.feed.progress })
    const ended = await store.run(active.id)
    if (ended !== null) active.feed.end(ended)
  }
  let release = (): void => undefined
  try {
    const lock = await store.lockRun(sheet.lockTimeoutMs, active.signal)
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

function stateAfter(error: unknown, active: ActiveRun, sheet: Sheet): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}

/** What callers are told of an error. */
export function toldOf(error: unknown): NonNullable<RunEnd['error']> {
  if (error instanceof ServiceError) return { type: error.type, message: error.message }
  return { type: 'ServiceError', message: 'internal error' }
}
