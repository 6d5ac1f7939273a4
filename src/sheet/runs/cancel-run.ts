import { OperationError } from '../../errors/service-error.ts'
import type { RunId, StoredRun } from '../../store/stored-run.ts'
import { getRun } from './read-runs.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

/** How long a run of another process is given to end before the answer is that it is still running. */
const PATIENCE_MS = 10_000
const LOOK_MS = 50

/**
 * Ends a run: no new call starts, calls under way are aborted, what is stored stays. Resolves when it has ended, with
 * what it came to; a run that was cancelled before is answered as it is. Throws SheetError for an unknown run,
 * OperationError for one that ended otherwise, ValidationError without an actor.
 */
export async function cancelRun(sheet: Sheet, id: RunId, givenActor: GivenActor): Promise<StoredRun> {
  const actor = resolveActor(sheet, givenActor)
  const active = sheet.runs.get(id)
  // At once: calls that cost money wait neither for a store that is busy nor for a contract to be mended.
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
        action: 'get_run',
        run: id,
      })
    : notRunning(ended)
}

function notRunning({ id, state }: StoredRun): OperationError {
  return new OperationError(
    `run ${id} is not running any more, it is ${state}; nothing was cancelled`,
    'run_not_running',
  )
}

/** Another process runs it: that one looks for such wishes several times a second. */
async function untilEnded(sheet: Sheet, id: RunId): Promise<StoredRun> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const run = await getRun(sheet, id)
    if (run.state !== 'running' || performance.now() > deadline) return run
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
