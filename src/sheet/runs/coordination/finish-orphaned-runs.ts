import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError, RecordsError } from '../../../errors/service-error.ts'
import { HEARTBEAT_MS } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunLock } from '../../../store/stored-run.ts'
import { ActiveRun } from '../../active-run.ts'
import { RunFrames } from './run-frames.ts'
import { RunReleasedError } from './run-released-error.ts'
import { runToEnd } from './run-to-end.ts'
import type { Sheet } from '../../sheet.ts'

/**
 * Finishes orphaned runs, whose processes are gone: first those that had the run lock, then those that wait for it, in
 * the order in which they were accepted. `waiting` is the run that the lock was taken for: only runs accepted before it
 * are finished, until it is aborted; null finishes all.
 */
export async function finishOrphanedRuns(
  sheet: Sheet,
  store: SheetStore,
  { lock, waiting }: { readonly lock: RunLock; readonly waiting: ActiveRun | null },
): Promise<void> {
  for (;;) {
    waiting?.signal.throwIfAborted()
    const orphan = (await store.tasks?.orphan({ hasLock: true, before: waiting?.id ?? null })) ?? null
    if (orphan === null || orphan.id === waiting?.id) return
    await finishRun(sheet, store, { lock, id: orphan.id })
  }
}

/**
 * Takes over orphaned runs, unless another process does: those that had the run lock, then those that wait for it. Breaks the run lock
 * of a process whose heartbeat stopped, since it is suspended or disconnected.
 */
export async function recoverOrphanedRuns(sheet: Sheet, store: SheetStore): Promise<void> {
  const { tasks } = store
  const find = { hasLock: false, before: null }
  if (tasks === undefined || (await tasks.orphan(find)) === null) return
  try {
    const lock = await store.lockRun(0, sheet.stopping)
    try {
      await finishOrphanedRuns(sheet, store, { lock, waiting: null })
    } finally {
      lock.release()
    }
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error
    // A process that has just taken it over sends a heartbeat at once.
    await delay(HEARTBEAT_MS, undefined, { signal: sheet.stopping }).catch(() => undefined)
    const orphan = await tasks.orphan(find)
    if (orphan !== null) await tasks.breakLock(orphan)
  }
}

async function finishRun(
  sheet: Sheet,
  store: SheetStore,
  { lock, id }: { readonly lock: RunLock; readonly id: RunId },
): Promise<void> {
  const { tasks } = store
  const run = await store.run(id)
  // Its process may have sent a heartbeat just now.
  if (tasks === undefined || run === null || !(await tasks.claim(id, { orphaned: true }))) return
  sheet.logger.info({ run: id }, 'the process of this run is gone; taking it over')
  const order = { ...run, recordIds: await store.runRecordIds(id) }
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  if (run.cancelledBy !== null) active.cancel(run.cancelledBy)
  const frames = new RunFrames(sheet, order)
  const orphan = { sheet, store, active, order, frames, lock, wasOrphaned: true }
  try {
    await sheet.during(sheet.runs.during(active, store, () => runToEnd(orphan)))
  } catch (error) {
    // The callers that requested the run receive its error.
    if (error instanceof RunReleasedError)
      throw new RecordsError(`run ${id} is left unfinished: ${error.message}`)
  }
}
