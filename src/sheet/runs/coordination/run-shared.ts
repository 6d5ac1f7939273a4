import { setTimeout as delay } from 'node:timers/promises'
import type { CellFailure, RunOutcome } from '../../../derivation/run-request.ts'
import { LockTimeoutError, OperationError, StoppingError } from '../../../errors/service-error.ts'
import { BEAT_MS } from '../../../store/run-tasks.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import type { ActiveRun } from '../../active-run.ts'
import { coordinateRun } from './coordinate-run.ts'
import type { CoordinatedRun } from './coordinated-run.ts'
import type { EndingRun } from './end-run.ts'
import { finishOrphanedRuns } from './finish-orphaned-runs.ts'
import { isLeft, type RunLeftError } from './run-left-error.ts'
import type { Sheet } from '../../sheet.ts'
import { isTrouble } from '../tasks/task-runner.ts'
import { errorFrom } from '../../run-error.ts'
import { withRunLock } from './with-run-lock.ts'

/** How often a run that another process sees to is looked at. */
const LOOK_MS = 500

/** Failures read at a time. */
const FAILURES = 1000

/**
 * Has a run computed by all who compute for the sheet, and sees to it until it has ended, whoever saw it to its end. Throws what
 * ended it early.
 */
export async function runShared(run: CoordinatedRun): Promise<RunOutcome> {
  const { sheet, store, active } = run
  try {
    await withRunLock(sheet, active, (lock) => coordinateRun({ ...run, lock }))
  } catch (error) {
    if (!isLeft(error)) throw error
    run.frames.silence()
    await endElsewhere(run, error)
  }
  return outcomeOf(store, await finished(store, active))
}

/** What a run that has finished came to, from the store. */
export async function outcomeOf(store: SheetStore, run: StoredRun): Promise<RunOutcome> {
  return { progress: run, failures: await allFailures(store, run.id) }
}

/**
 * Waits until a run that this process has left has finished, and sees to it again should nobody else. Throws what ended it early, and
 * StoppingError when this process is stopped first.
 */
export async function endElsewhere(run: EndingRun, left: RunLeftError): Promise<StoredRun> {
  const { sheet, store, active } = run
  if (sheet.stopping.aborted) throw new StoppingError(left.message)
  sheet.logger.warn({ run: active.id }, `the run is left to whoever can: ${left.message}`)
  await untilEnded(run)
  return finished(store, active)
}

async function finished(store: SheetStore, { id }: ActiveRun): Promise<StoredRun> {
  const ended = await store.run(id)
  if (ended === null) throw new Error(`no run ${id}`)
  if (ended.state !== 'finished') throw ended.error === null ? notFinished(ended) : errorFrom(ended.error)
  return ended
}

async function untilEnded({ sheet, store, active }: EndingRun): Promise<void> {
  for (;;) {
    sheet.stopping.throwIfAborted()
    await delay(LOOK_MS)
    try {
      const run = await store.run(active.id)
      if (run === null || run.state !== 'running') return
      const { cancelledBy } = active
      if (cancelledBy !== null && run.cancelledBy === null) await store.requestCancel(active.id, cancelledBy)
      await seeToLeftRuns(sheet, store)
    } catch (error) {
      // The store is still away.
      if (!isTrouble(error)) throw error
    }
  }
}

/**
 * Goes on with runs whose process is gone, if there are any and nobody else does: those that have begun, and then those that wait.
 * Takes the run lock from a process that has it and has not been heard of for long: it is halted, or cut off.
 */
export async function seeToLeftRuns(sheet: Sheet, store: SheetStore): Promise<void> {
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
    // Whoever has just taken it over says so at once.
    await delay(BEAT_MS, undefined, { signal: sheet.stopping }).catch(() => undefined)
    const orphan = await tasks.orphan(find)
    if (orphan !== null) await tasks.breakLock(orphan)
  }
}

function notFinished({ id, state, cancelledBy }: StoredRun): OperationError {
  return state === 'cancelled' && cancelledBy !== null
    ? new OperationError(`the run was cancelled by ${JSON.stringify(cancelledBy)}`, 'run_cancelled')
    : new OperationError(`run ${id} is ${state}`, 'run_interrupted')
}

async function allFailures(store: SheetStore, run: RunId): Promise<CellFailure[]> {
  const all: CellFailure[] = []
  for (let after = 0; ;) {
    const page = await store.runFailures({ run, after, limit: FAILURES })
    const last = page.at(-1)
    if (last === undefined) return all
    for (const { recordId, field, error, errorType } of page) {
      all.push({ recordId, field, error, error_type: errorType })
    }
    after = last.number
  }
}
