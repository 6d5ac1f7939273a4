import { RecordsError } from '../../../errors/service-error.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunLock, RunOrder } from '../../../store/stored-run.ts'
import { ActiveRun } from '../../active-run.ts'
import { coordinateRun } from './coordinate-run.ts'
import type { LockedRun } from './coordinated-run.ts'
import { keepFresh } from '../selection/keep-fresh.ts'
import { RunFrames } from './run-frames.ts'
import { isLeft } from './run-left-error.ts'
import type { Sheet } from '../../sheet.ts'
import { undoRun } from './undo-run.ts'
import { workToEnd } from './work-to-end.ts'

/**
 * Finishes runs that were left, since their processes are gone: those that had the run lock before, then those that wait for it, in the
 * order in which they were accepted. `waiting` is whoever has the lock for a run of its own, before which only those go that were accepted
 * before it, and which waits no longer when it is aborted; null for nobody.
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
    await finishLeftRun(sheet, store, { lock, id: orphan.id })
  }
}

async function finishLeftRun(
  sheet: Sheet,
  store: SheetStore,
  { lock, id }: { readonly lock: RunLock; readonly id: RunId },
): Promise<void> {
  const { tasks } = store
  const run = await store.run(id)
  // Its process may have been heard of just now.
  if (tasks === undefined || run === null || !(await tasks.claim(id, { left: true }))) return
  sheet.logger.info({ run: id }, 'a run was left by its process; going on with it')
  const order = { ...run, recordIds: await store.runRecordIds(id) }
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  if (run.cancelledBy !== null) active.cancel(run.cancelledBy)
  const frames = new RunFrames(sheet, run.actor)
  const left = { sheet, store, tasks, active, order, frames, lock, wasLeft: true }
  try {
    await sheet.during(sheet.runs.during(active, store, () => carryOut(left)))
  } catch (error) {
    // How it ended is told to those who asked for it.
    if (isLeft(error)) throw new RecordsError(`run ${id} is left unfinished: ${error.message}`)
  }
}

async function carryOut(run: LockedRun): Promise<void> {
  const { active, order, frames } = run
  const whole = wholeWork(run, order)
  if (whole === null) return coordinateRun(run)
  try {
    await workToEnd(run, () => {
      active.signal.throwIfAborted()
      return whole()
    })
    if (order.kind === 'materialize') frames.end(active.feed.progress)
  } catch (error) {
    if (order.kind === 'materialize') frames.error(error)
    throw error
  }
}

/** The work of a run that is not cut into tasks; null for one that is. */
function wholeWork({ sheet, store, active }: LockedRun, order: RunOrder): (() => Promise<unknown>) | null {
  const { actor, reverts, keepFresh: file } = order
  if (reverts !== null) return () => undoRun(store, active, { actor, reverts })
  return file === undefined ? null : () => keepFresh(sheet, { ...order, keepFresh: file }, active)
}
