import { RecordsError } from '../errors/service-error.ts'
import type { SheetStore } from '../store/sheet-store.ts'
import type { RunId, RunLock } from '../store/stored-run.ts'
import { ActiveRun } from './active-run.ts'
import { conductLocked, isLeft } from './conduct-locked.ts'
import { RunFrames } from './run-frames.ts'
import type { Sheet } from './sheet.ts'

/**
 * Finishes runs that had the run lock before and were left: their processes are gone. `waiting` is whoever has the lock for a run
 * of its own, and waits no longer when it is aborted; null for nobody.
 */
export async function finishLeftRuns(
  sheet: Sheet,
  store: SheetStore,
  { lock, waiting }: { readonly lock: RunLock; readonly waiting: ActiveRun | null },
): Promise<void> {
  for (;;) {
    waiting?.signal.throwIfAborted()
    const id = (await store.tasks?.orphan({ hasLock: true })) ?? null
    if (id === null || id === waiting?.id) return
    await finishLeftRun(sheet, store, { lock, id })
  }
}

async function finishLeftRun(
  sheet: Sheet,
  store: SheetStore,
  { lock, id }: { readonly lock: RunLock; readonly id: RunId },
): Promise<void> {
  const { tasks } = store
  const run = await store.run(id)
  if (tasks === undefined || run?.state !== 'running') return
  sheet.logger.info({ run: id }, 'a run was left by its process; going on with it')
  const order = { ...run, recordIds: await store.runRecordIds(id) }
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  if (run.cancelledBy !== null) active.cancel(run.cancelledBy)
  const frames = new RunFrames(sheet, run.actor)
  try {
    await sheet.during(
      sheet.runs.during(active, store, () =>
        conductLocked({ sheet, store, tasks, active, order, frames, lock }),
      ),
    )
  } catch (error) {
    // How it ended is told to those who asked for it.
    if (isLeft(error)) throw new RecordsError(`run ${id} is left unfinished: ${error.message}`)
  }
}
