import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CellFailure } from '../../../derivation/run-request.ts'
import { OperationError } from '../../../errors/service-error.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { RunId, StoredRun } from '../../../store/stored-run.ts'
import { errorFrom } from '../../run-error.ts'

/** Failures read at a time. */
const FAILURES = 1000

/** Reads a run that has ended. Throws the error that ended it early. */
export async function finishedRun(store: SheetStore, id: RunId): Promise<StoredRun> {
  const ended = await store.run(id)
  if (ended === null) throw new Error(`no run ${id}`)
  if (ended.state !== 'finished') throw ended.error === null ? notFinished(ended) : errorFrom(ended.error)
  return ended
}

function notFinished({ id, state, cancelledBy }: StoredRun): OperationError {
  return state === 'cancelled' && cancelledBy !== null
    ? new OperationError(`the run was cancelled by ${JSON.stringify(cancelledBy)}`, 'run_cancelled')
    : new OperationError(`run ${id} is ${state}`, 'run_interrupted')
}

/** Reads the cells that failed in a run, in the order in which they failed. */
export async function failuresOf(store: SheetStore, run: RunId): Promise<CellFailure[]> {
  const all: CellFailure[] = []
  for (let after = 0; ;) {
    const page = await store.runFailures({ run, after, limit: FAILURES })
    const last = page.at(-1)
    if (last === undefined) return all
    // Lets other requests run between pages.
    await nextTurn()
    for (const { recordId, field, error, errorType, reason } of page) {
      all.push({ recordId, field, error, errorType, reason })
    }
    after = last.number
  }
}
