import { OperationError } from '../../errors/service-error.ts'
import type { RunId, StoredRun } from '../../store/stored-run.ts'
import { getRun } from './read-runs.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

/** The time, in milliseconds, that a run of another process has to end before it is reported as still running. */
const TIMEOUT_MS = 10_000
const POLL_MS = 50

/**
 * Cancels a run: no new call starts, calls under way are aborted, stored results stay. Resolves with the run when it
 * has ended; a run that was cancelled before is returned as it is. Throws SheetError for an unknown run, OperationError
 * for one that ended otherwise, ValidationError without an actor.
 */
export async function cancelRun(sheet: Sheet, id: RunId, givenActor: GivenActor): Promise<StoredRun> {
  const actor = resolveActor(sheet, givenActor)
  const active = sheet.runs.get(id)
  // First, since calls may cost money: cancelling waits neither for the store nor for a valid contract.
  active?.cancel(actor)
  await active?.ended
  const run = await getRun(sheet, id)
  if (run.state === 'cancelled') return run
  if (run.state !== 'running') throw notRunning(run)
  const { store } = await sheet.current()
  await store.requestCancel(id, actor)
  const ended = await untilEnded(sheet, id)
  if (ended.state === 'cancelled') return ended
  throw ended.state === 'running'
    ? new OperationError(`run ${id} was asked to end and is still running`, 'run_not_finished', {
        hint: {
          action: 'get_run',
          run: id,
        },
      })
    : notRunning(ended)
}

function notRunning({ id, state }: StoredRun): OperationError {
  return new OperationError(
    `run ${id} is not running any more, it is ${state}; nothing was cancelled`,
    'run_not_running',
  )
}

/** Polls a run of another process, which checks for requests to cancel several times a second. */
async function untilEnded(sheet: Sheet, id: RunId): Promise<StoredRun> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const run = await getRun(sheet, id)
    if (run.state !== 'running' || performance.now() > deadline) return run
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
