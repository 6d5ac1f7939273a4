import type { SheetStore } from '../store/sheet-store.ts'
import type { RunLock } from '../store/stored-run.ts'
import type { ActiveRun } from './active-run.ts'
import { finishLeftRuns } from './left-runs.ts'
import type { Sheet } from './sheet.ts'

/** How long a run that waits may be silent before it is taken for dead. */
export const SILENT_MS = 6000

/**
 * Waits for the run lock and does something with it, once runs that had it before are done with. Throws what the work throws,
 * LockTimeoutError, and the reason of the run's signal when it is aborted while it waits.
 */
export async function withRunLock<T>(
  sheet: Sheet,
  active: ActiveRun,
  work: (lock: RunLock) => Promise<T>,
): Promise<T> {
  const { store } = await sheet.current()
  const lock = await waitForLock(sheet, store, active)
  try {
    if (store.tasks !== undefined) await finishLeftRuns(sheet, store, { lock, waiting: active })
    await store.interruptRuns(active.id)
    return await work(lock)
  } finally {
    lock.release()
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
