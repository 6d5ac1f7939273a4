import type { RunTasks } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunEnd } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { reportedError } from '../../run-error.ts'
import type { Sheet } from '../../sheet.ts'
import type { AcceptedRun } from './accepted-run.ts'

/** Stores how a run ended, and publishes that to its watchers. Throws when the store cannot be written. */
export async function endRun(
  store: SheetStore,
  active: ActiveRun,
  how: Pick<RunEnd, 'state' | 'error'>,
): Promise<void> {
  await store.endRun(active.id, endOf(active, how))
  await publishEnd(store, active)
}

/** Ends a run with an error; see {@link endRun}. */
export async function endRunEarly({ sheet, store, active }: AcceptedRun, error: unknown): Promise<void> {
  await endRun(store, active, { state: stateAfter(error, active, sheet), error: reportedError(error) })
}

/**
 * Ends a run that waits for the run lock with an error, where processes share runs. Returns false when another process
 * has taken it over.
 */
export async function endWaitingEarly(
  { sheet, store, active }: AcceptedRun,
  tasks: RunTasks,
  error: unknown,
): Promise<boolean> {
  const how = { state: stateAfter(error, active, sheet), error: reportedError(error) }
  const isStored = await tasks.endWaiting(active.id, endOf(active, how))
  if (isStored) await publishEnd(store, active)
  return isStored
}

function endOf(active: ActiveRun, how: Pick<RunEnd, 'state' | 'error'>): RunEnd {
  const cancelledBy = how.state === 'cancelled' ? active.cancelledBy : null
  return { ...how, cancelledBy, progress: active.feed.progress }
}

/** Publishes the end of a run. Its end is stored, so that a failure to read it back is ignored. */
async function publishEnd(store: SheetStore, active: ActiveRun): Promise<void> {
  const ended = await store.run(active.id).catch(() => null)
  if (ended !== null) active.feed.end(ended)
}

function stateAfter(error: unknown, active: ActiveRun, sheet: Sheet): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}
