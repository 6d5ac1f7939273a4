import { setTimeout as delay } from 'node:timers/promises'
import type { RunOutcome } from '../../../derivation/run-request.ts'
import { StoppingError } from '../../../errors/service-error.ts'
import type { StoredRun } from '../../../store/stored-run.ts'
import { coordinateRun } from './coordinate-run.ts'
import type { CoordinatedRun } from './coordinated-run.ts'
import type { EndingRun } from './end-run.ts'
import { recoverOrphanedRuns } from './finish-orphaned-runs.ts'
import { finishedRun, outcomeOf } from './run-outcome.ts'
import { RunReleasedError } from './run-released-error.ts'
import { isStoreUnavailable } from '../tasks/task-runner.ts'
import { withRunLock } from './with-run-lock.ts'

/** The interval, in milliseconds, at which a run of another process is read. */
const POLL_MS = 500

/**
 * Executes a run whose tasks all processes of the sheet compute, and waits until it has ended, whichever process coordinated it last.
 * Throws the error that ended it early.
 */
export async function runShared(run: CoordinatedRun): Promise<RunOutcome> {
  const { sheet, store, active } = run
  try {
    await withRunLock(sheet, active, (lock) => coordinateRun({ ...run, lock }))
  } catch (error) {
    if (!(error instanceof RunReleasedError)) throw error
    run.frames.suppressEnd()
    await awaitReleasedRun(run, error)
  }
  return outcomeOf(store, await finishedRun(store, active.id))
}

/**
 * Waits until a run that this process has released has finished, and takes it over again if its next process is gone too. Throws the
 * error that ended it early, and StoppingError when this process is stopped first.
 */
export async function awaitReleasedRun(run: EndingRun, released: RunReleasedError): Promise<StoredRun> {
  const { sheet, store, active } = run
  if (sheet.stopping.aborted) throw new StoppingError(released.message)
  sheet.logger.warn({ run: active.id }, `the run has to be finished by another process: ${released.message}`)
  await untilEnded(run)
  return finishedRun(store, active.id)
}

async function untilEnded({ sheet, store, active }: EndingRun): Promise<void> {
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
