import type { CellFailure } from '../../derivation/run-request.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunId, RunOrder } from '../../store/stored-run.ts'
import { selectTargets } from '../select-targets.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'
import { executeRun } from './coordination/execute-run.ts'
import { RunFrames } from './coordination/run-frames.ts'
import { failuresOf, finishedRun } from './coordination/run-outcome.ts'
import { checkSelection } from './selection/check-selection.ts'
import { derivationOf } from './selection/keep-fresh.ts'
import { requireOverwritable } from './selection/overwrite-manual.ts'
import { requirePrices } from './selection/require-prices.ts'
import { checkRecords, resolveSelection, type RunSelection } from './selection/run-selection.ts'
import { stopAfterOf } from './selection/stop-after-failures.ts'

export interface MaterializeRequest extends RunSelection {
  readonly actor: GivenActor
}

/** The result of a run, in cells (D30). */
export interface MaterializeResult {
  readonly materialized: number
  readonly skipped: number
  readonly failures: readonly CellFailure[]
  readonly totalCost: number
}

/** A run that was started. */
export interface StartedRun {
  readonly id: RunId
  /** Resolves with the result; rejects with the error that ended it early. */
  readonly done: Promise<MaterializeResult>
}

/** Runs the derivations of the sheet and waits for the end; see {@link startMaterialize}. */
export async function materialize(sheet: Sheet, request: MaterializeRequest): Promise<MaterializeResult> {
  return (await startMaterialize(sheet, request)).done
}

/**
 * Starts a run, which computes cells and stores each result (H3, D25–D31), and continues whether or not anyone waits
 * for it. Resolves when the store has the run. Publishes `materialize.start`, then `materialize.end` or
 * `materialize.error`; an invalid request or actor publishes nothing (D40). Throws ValidationError, OperationError for
 * an unknown target, ContractError.
 */
export async function startMaterialize(sheet: Sheet, request: MaterializeRequest): Promise<StartedRun> {
  const order = orderOf(request, resolveActor(sheet, request.actor))
  const { promise, resolve, reject } = Promise.withResolvers<StartedRun>()
  const done: Promise<MaterializeResult> = sheet.during(
    publishRun(sheet, order, (id) => resolve({ id, done })),
  )
  done.catch(reject)
  return promise
}

function orderOf(request: MaterializeRequest, actor: string): RunOrder {
  checkSelection(request)
  const { targets, recordIds, force, only = null, limit = null, maxCalls = null, maxCost = null } = request
  const { overwriteManual = false, reuseResponses = false, keepFresh: kept } = request
  const stopAfterFailures = stopAfterOf(request)
  return {
    kind: 'materialize',
    reverts: null,
    actor,
    targets,
    recordIds,
    force,
    overwriteManual,
    only,
    limit,
    maxCalls,
    maxCost,
    reuseResponses,
    keepFresh: kept,
    stopAfterFailures,
  }
}

async function publishRun(
  sheet: Sheet,
  order: RunOrder,
  onStarted: (id: RunId) => void,
): Promise<MaterializeResult> {
  const frames = new RunFrames(sheet, order)
  frames.start()
  try {
    const store = await checkOrder(sheet, order)
    const { id } = await executeRun({ sheet, store, order, frames, onStarted })
    const { materialized, skipped, totalCost } = await finishedRun(store, id)
    return { materialized, skipped, totalCost, failures: await failuresOf(store, id) }
  } catch (error) {
    frames.error(error)
    throw error
  }
}

/** Checks a run before it waits for the run lock, so that a wrong request fails at once. Returns the store. */
async function checkOrder(sheet: Sheet, order: RunOrder): Promise<SheetStore> {
  sheet.stopping.throwIfAborted()
  const { store, derivations } = await sheet.deriving()
  const targets = selectTargets(derivations, order.targets)
  const kept = order.keepFresh === undefined ? null : derivationOf(derivations, order.keepFresh)
  const wanted = kept === null || order.targets !== null ? targets : new Set(kept.targets)
  requirePrices({ levels: derivations.levels, targets: wanted, maxCost: order.maxCost })
  await checkRecords(store, order.recordIds, wanted)
  sheet.policies()
  if (order.overwriteManual) {
    await requireOverwritable((await resolveSelection(sheet, order, sheet.stopping)).plan, order)
  }
  return store
}
