import { OperationError } from '../../errors/service-error.ts'
import type { RevertResult } from '../../store/sheet-store.ts'
import type { RunId, RunOrder, StoredRun } from '../../store/stored-run.ts'
import { getRun } from './read-runs.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { executeRun } from './coordination/execute-run.ts'
import { RunFrames } from './coordination/run-frames.ts'
import { finishedRun } from './coordination/run-outcome.ts'
import { NO_SELECTION } from './selection/no-selection.ts'
import { presentName } from '../queries/select-fields.ts'
import type { Sheet } from '../sheet.ts'
import type { RevertOrder } from './coordination/undo-run.ts'

export interface RevertCellRequest {
  readonly recordId: string
  readonly field: string
  /** The seq of the provenance entry to undo. */
  readonly seq: number
  readonly actor: GivenActor
}

export interface RevertRunRequest {
  /** The run to undo. */
  readonly runId: RunId
  readonly actor: GivenActor
}

/** The result of a revert: cells that were restored, and conflicts, which no longer have the value to undo. */
export interface RevertReport extends RevertResult {
  /** The run of the revert, which can be reverted in turn; null for a single cell. */
  readonly runId: RunId | null
}

/** A revert that was started. */
export interface StartedRevert {
  readonly id: RunId
  /** Resolves with the result; rejects with the error that ended it early. */
  readonly done: Promise<RevertReport>
}

/**
 * Undoes one provenance entry: restores the earlier value of the cell, or reports a conflict and leaves it. A derived
 * cell is then missing, overridden or computed as it was before; a computed value may be stale. Throws ValidationError
 * for an unknown field, for `id`, and without an actor; SheetError for a record or an entry that never existed;
 * PermissionDeniedError (D7); ContractError.
 */
export async function revertCell(sheet: Sheet, request: RevertCellRequest): Promise<RevertReport> {
  const { recordId, seq } = request
  const actor = resolveActor(sheet, request.actor)
  const current = await sheet.deriving()
  const { store } = current
  const field = await presentName(current, request.field)
  const result = await store.revert({ actor, entries: [{ seq, recordId, field }], run: null })
  return { ...result, runId: null }
}

/**
 * Undoes what a run wrote, as a run of its own, which can be listed, cancelled and reverted like any other; it
 * publishes no frames on `/events`. Resolves when the store has the new run. It works in steps, and finished steps stay
 * when an error ends it: revert the same run again to continue, with the cells restored before among the conflicts.
 * Throws ValidationError without an actor, SheetError for an unknown run, OperationError for one that is still running,
 * ContractError.
 */
export async function startRevert(sheet: Sheet, request: RevertRunRequest): Promise<StartedRevert> {
  const actor = resolveActor(sheet, request.actor)
  const { promise, resolve, reject } = Promise.withResolvers<StartedRevert>()
  const started = (id: RunId): void => resolve({ id, done })
  const done: Promise<RevertReport> = sheet.during(
    revertRun(sheet, { actor, reverts: request.runId }, started),
  )
  done.catch(reject)
  return promise
}

async function revertRun(
  sheet: Sheet,
  { actor, reverts }: RevertOrder,
  onStarted: (id: RunId) => void,
): Promise<RevertReport> {
  sheet.stopping.throwIfAborted()
  const { store } = await sheet.deriving()
  const { state } = await getRun(sheet, reverts)
  if (state === 'running') {
    throw new OperationError(
      `run ${reverts} is still running; wait for its end, or cancel it first`,
      'run_not_finished',
      { hint: { action: 'cancel_run', run: reverts } },
    )
  }
  const order: RunOrder = { ...NO_SELECTION, kind: 'revert', reverts, actor }
  const frames = new RunFrames(sheet, order)
  const { id, reverted } = await executeRun({ sheet, store, order, frames, onStarted })
  if (reverted === null) throw revertedElsewhere(await finishedRun(store, id))
  return { ...reverted, runId: id }
}

/** Creates the error of a revert that another process finished, since its conflicts are not stored. */
function revertedElsewhere({ id, materialized, skipped }: StoredRun): OperationError {
  return new OperationError(
    `run ${id} was finished by another process: it restored ${materialized} cells and skipped ${skipped}`,
    'run_interrupted',
    { hint: { action: 'get_run', run: id } },
  )
}
