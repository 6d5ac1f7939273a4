import type { SheetStore } from '../store/sheet-store.ts'
import type { RunEnd } from '../store/stored-run.ts'
import type { ActiveRun } from './active-run.ts'
import type { Sheet } from './sheet.ts'
import { toldOf } from './told-error.ts'

/** Notes how a run ended, and tells those who watch it. Throws where the store cannot be written. */
export async function endRun(
  store: SheetStore,
  active: ActiveRun,
  how: Pick<RunEnd, 'state' | 'error'>,
): Promise<void> {
  const cancelledBy = how.state === 'cancelled' ? active.cancelledBy : null
  await store.endRun(active.id, { ...how, cancelledBy, progress: active.feed.progress })
  // The run has ended, whether or not those who watch can be told how.
  const ended = await store.run(active.id).catch(() => null)
  if (ended !== null) active.feed.end(ended)
}

/** The same for a run that an error ends. */
export async function endRunEarly(
  { sheet, store, active }: { readonly sheet: Sheet; readonly store: SheetStore; readonly active: ActiveRun },
  error: unknown,
): Promise<void> {
  await endRun(store, active, { state: stateAfter(error, active, sheet), error: toldOf(error) })
}

function stateAfter(error: unknown, active: ActiveRun, sheet: Sheet): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}
