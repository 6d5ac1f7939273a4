import { setTimeout as delay } from 'node:timers/promises'
import { StoppingError } from '../../../errors/service-error.ts'
import type { RevertResult, SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, RunOrder } from '../../../store/stored-run.ts'
import { ActiveRun } from '../../active-run.ts'
import type { Sheet } from '../../sheet.ts'
import { distinctLists } from '../selection/run-limits.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'
import type { AcceptedRun } from './accepted-run.ts'
import { recoverOrphanedRuns } from './finish-orphaned-runs.ts'
import type { RunFrames } from './run-frames.ts'
import { RunReleasedError } from './run-released-error.ts'
import { runToEnd } from './run-to-end.ts'
import { SILENT_MS, withRunLock } from './with-run-lock.ts'

/** The interval, in milliseconds, at which a run of another process is read. */
const POLL_MS = 500

/** A run that is ordered, with the frames that it publishes. */
export interface OrderedRun {
  readonly sheet: Sheet
  readonly store: SheetStore
  readonly order: RunOrder
  readonly frames: RunFrames
  /** Called when the store has the run. */
  onStarted(id: RunId): void
}

/** A run that has ended. */
export interface EndedRun {
  readonly id: RunId
  /** The result of a revert that this process executed; null for any other run. */
  readonly reverted: RevertResult | null
}

/**
 * Stores a new run, waits for the run lock, and executes the run. Resolves when it has ended, whichever process executed it last. Throws
 * the error that ended it early, LockTimeoutError, and StoppingError when another process continues it and this one is stopped.
 */
export async function executeRun({ sheet, store, order, frames, onStarted }: OrderedRun): Promise<EndedRun> {
  const id = await store.startRun({ ...order, ...distinctLists(order), silentMs: SILENT_MS })
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  const run: AcceptedRun = { sheet, store, active, order, frames }
  return sheet.runs.during(active, store, async () => {
    onStarted(id)
    try {
      // Files may be edited while the run waits: they are read once it has the lock.
      return { id, reverted: await withRunLock(run, (lock) => runToEnd({ ...run, lock })) }
    } catch (error) {
      if (!(error instanceof RunReleasedError)) throw error
      frames.suppressEnd()
      await untilEndedElsewhere(run, error)
      return { id, reverted: null }
    }
  })
}

/** Waits until a run that this process has released has ended, and takes it over again if its next process is gone too. */
async function untilEndedElsewhere(
  { sheet, store, active }: AcceptedRun,
  released: RunReleasedError,
): Promise<void> {
  if (sheet.stopping.aborted) throw new StoppingError(released.message)
  sheet.logger.warn({ run: active.id }, `the run has to be finished by another process: ${released.message}`)
  for (;;) {
    sheet.stopping.throwIfAborted()
    await delay(POLL_MS)
    try {
      const run = await store.run(active.id)
      if (run !== null) active.feed.learn(run)
      if (run === null || run.state !== 'running') return
      const { cancelledBy } = active
      if (cancelledBy !== null && run.cancelledBy === null) await store.requestCancel(active.id, cancelledBy)
      await recoverOrphanedRuns(sheet, store)
    } catch (error) {
      // Keeps polling while the store is unavailable.
      if (!isStoreUnavailable(error)) throw error
    }
  }
}
