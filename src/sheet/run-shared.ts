import { setTimeout as delay } from 'node:timers/promises'
import type { CellFailure, RunOutcome } from '../derivation/run-request.ts'
import { LockTimeoutError, OperationError, StoppingError } from '../errors/service-error.ts'
import { BEAT_MS } from '../store/run-tasks.ts'
import type { SheetStore } from '../store/sheet-store.ts'
import type { RunId, StoredRun } from '../store/stored-run.ts'
import { conductLocked, isLeft } from './conduct-locked.ts'
import type { ConductedRun } from './conducted-run.ts'
import { endRunEarly } from './end-run.ts'
import { finishLeftRuns } from './left-runs.ts'
import type { Sheet } from './sheet.ts'
import { isTrouble } from './task-runner.ts'
import { errorOf } from './told-error.ts'
import { withRunLock } from './with-run-lock.ts'

/** How often a run that another process sees to is looked at. */
const LOOK_MS = 500

/** Failures read at a time. */
const FAILURES = 1000

/**
 * Has a run computed by all who compute for the sheet, and sees to it until it has ended, whoever saw it to its end. Throws what
 * ended it early.
 */
export async function runShared(run: ConductedRun): Promise<RunOutcome> {
  const { sheet, store, active } = run
  let hadLock = false
  try {
    await withRunLock(sheet, active, (lock) => {
      hadLock = true
      return conductLocked({ ...run, lock })
    })
  } catch (error) {
    if (!hadLock) await endRunEarly(run, error).catch(() => undefined)
    if (!isLeft(error)) throw error
    if (sheet.stopping.aborted) throw new StoppingError(error.message)
    sheet.logger.warn({ run: active.id }, `the run is left to whoever can: ${error.message}`)
    run.frames.silence()
    await untilEnded(run)
  }
  const ended = await store.run(active.id)
  if (ended === null) throw new Error(`no run ${active.id}`)
  if (ended.state !== 'finished') throw ended.error === null ? notFinished(ended) : errorOf(ended.error)
  return { progress: ended, failures: await allFailures(store, active.id) }
}

/** Waits until a run has ended, and sees to it again should nobody else. */
async function untilEnded({ sheet, store, active }: ConductedRun): Promise<void> {
  for (;;) {
    sheet.stopping.throwIfAborted()
    await delay(LOOK_MS)
    try {
      const run = await store.run(active.id)
      if (run === null || run.state !== 'running') return
      await seeToLeftRuns(sheet, store)
    } catch (error) {
      // The store is still away.
      if (!isTrouble(error)) throw error
    }
  }
}

/**
 * Goes on with runs whose process is gone, if there are any and nobody else does. Takes the run lock from a process that has it
 * and has not been heard of for long: it is halted, or cut off.
 */
export async function seeToLeftRuns(sheet: Sheet, store: SheetStore): Promise<void> {
  const { tasks } = store
  if (tasks === undefined || (await tasks.orphan({ hasLock: false })) === null) return
  try {
    const lock = await store.lockRun(0, sheet.stopping)
    try {
      await finishLeftRuns(sheet, store, { lock, waiting: null })
    } finally {
      lock.release()
    }
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error
    // Whoever has just taken it over says so at once.
    await delay(BEAT_MS, undefined, { signal: sheet.stopping }).catch(() => undefined)
    if ((await tasks.orphan({ hasLock: false })) !== null) await tasks.breakLock()
  }
}

function notFinished({ id, state, cancelledBy }: StoredRun): OperationError {
  return new OperationError(
    state === 'cancelled' && cancelledBy !== null
      ? `the run was cancelled by ${JSON.stringify(cancelledBy)}`
      : `run ${id} is ${state}`,
  )
}

async function allFailures(store: SheetStore, run: RunId): Promise<CellFailure[]> {
  const all: CellFailure[] = []
  for (let after = 0; ;) {
    const page = await store.runFailures({ run, after, limit: FAILURES })
    for (const { recordId, field, error, errorType } of page) {
      all.push({ recordId, field, error, error_type: errorType })
    }
    if (page.length < FAILURES) return all
    after = page.at(-1)?.number ?? after
  }
}
