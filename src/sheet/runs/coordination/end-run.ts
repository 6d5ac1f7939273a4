import type { RunTasks } from '../../../store/run-tasks.ts'
import type { RunEnd } from '../../../store/stored-run.ts'
import { reportedError } from '../../run-error.ts'
import type { AcceptedRun } from './accepted-run.ts'

/** The parts of a run that its end needs. */
type EndingRun = Pick<AcceptedRun, 'sheet' | 'store' | 'active'>

/** Stores that a run finished, and publishes that to its watchers. Throws when the store cannot be written. */
export function endRun(run: EndingRun): Promise<void> {
  return storeEnd(run, endOf(run, { state: 'finished', error: null }))
}

/** Ends a run with an error; see {@link endRun}. */
export function endRunEarly(run: EndingRun, error: unknown): Promise<void> {
  return storeEnd(run, earlyEnd(run, error))
}

/**
 * Ends a run that waits for the run lock with an error, where processes share runs. Returns false when another process
 * has taken it over.
 */
export async function endWaitingEarly(run: EndingRun, tasks: RunTasks, error: unknown): Promise<boolean> {
  const isStored = await tasks.endWaiting(run.active.id, earlyEnd(run, error))
  if (isStored) await publishEnd(run)
  return isStored
}

async function storeEnd(run: EndingRun, end: RunEnd): Promise<void> {
  await run.store.endRun(run.active.id, end)
  await publishEnd(run)
}

/** Returns the end of a run with an error, and logs an unexpected one: nobody may be waiting for the run. */
function earlyEnd(run: EndingRun, error: unknown): RunEnd {
  const reported = reportedError(error)
  if (reported.code === 'internal_error') {
    run.sheet.logger.error({ err: error, run: run.active.id }, 'an internal error ended a run')
  }
  return endOf(run, { state: stateAfter(error, run), error: reported })
}

function endOf({ active }: EndingRun, how: Pick<RunEnd, 'state' | 'error'>): RunEnd {
  const cancelledBy = how.state === 'cancelled' ? active.cancelledBy : null
  return { ...how, cancelledBy, progress: active.feed.progress }
}

/** Publishes the end of a run. Its end is stored, so that a failure to read it back is ignored. */
async function publishEnd({ store, active }: EndingRun): Promise<void> {
  const ended = await store.run(active.id).catch(() => null)
  if (ended !== null) active.feed.end(ended)
}

function stateAfter(error: unknown, { active, sheet }: EndingRun): RunEnd['state'] {
  if (error !== active.signal.reason) return 'failed'
  return sheet.stopping.aborted && error === sheet.stopping.reason ? 'interrupted' : 'cancelled'
}
