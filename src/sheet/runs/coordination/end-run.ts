import type { RunTasks } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunEnd } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import type { Sheet } from '../../sheet.ts'
import { reportedError } from '../../run-error.ts'

/** Notes how a run ended, and tells those who watch it. Throws where the store cannot be written. */
export async function endRun(
  store: SheetStore,
  active: ActiveRun,
  how: Pick<RunEnd, 'state' | 'error'>,
): Promise<void> {
  await store.endRun(active.id, endOf(active, how))
  await tellEnd(store, active)
}

/** The same for a run that an error ends. */
export async function endRunEarly({ sheet, store, active }: EndingRun, error: unknown): Promise<void> {
  await endRun(store, active, { state: stateAfter(error, active, sheet), error: reportedError(error) })
}

/** The same for a run that waits for the run lock, where processes share runs. False where it is another process' by now. */
export async function endWaitingEarly(
  { sheet, store, active }: EndingRun,
  tasks: RunTasks,
  error: unknown,
): Promise<boolean> {
  const how = { state: stateAfter(error, active, sheet), error: reportedError(error) }
  const isNoted = await tasks.endWaiting(active.id, endOf(active, how))
  if (isNoted) await tellEnd(store, active)
  return isNoted
}

/** A run of this process. */
export interface EndingRun {
  readonly sheet: Sheet
  readonly store: SheetStore
  readonly active: ActiveRun
}

function endOf(active: ActiveRun, how: Pick<RunEnd, 'state' | 'error'>): RunEnd {
  const cancelledBy = how.state === 'cancelled' ? active.cancelledBy : null
  return { ...how, cancelledBy, progress: active.feed.progress }
}

/** The run has ended, whether or not those who watch can be told how. */
async function tellEnd(store: SheetStore, active: ActiveRun): Promise<void> {
  const ended = await store.run(active.id).catch(() => null)
  if (ended !== null) active.feed.end(ended)
}

function stateAfter(error: unknown, active: ActiveRun, sheet: Sheet): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}
