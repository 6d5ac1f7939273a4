import { manualCells, sumOf } from '../../derivation/plan/manual-cells.ts'
import { runDerivations } from '../../derivation/run/materializer.ts'
import type { CellFailure, RunObserver, RunOutcome, RunRequest } from '../../derivation/run-request.ts'
import type { RunId, RunOrder, RunProgress } from '../../store/stored-run.ts'
import { ActiveRun } from '../active-run.ts'
import { checkSelection } from './selection/check-selection.ts'
import { derivationOf, keepFresh } from './selection/keep-fresh.ts'
import { requireOverwritable } from './selection/overwrite-manual.ts'
import { prepareCalls } from '../calls/prepare-calls.ts'
import { selectTargets } from '../cells/read-status.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { distinctLists } from './selection/run-limits.ts'
import { checkRecords, resolveSelection, type RunSelection } from './selection/run-selection.ts'
import { RunFrames } from './coordination/run-frames.ts'
import { outcomeOf } from './coordination/run-outcome.ts'
import { runShared } from './coordination/run-shared.ts'
import { runToEnd } from './coordination/run-to-end.ts'
import type { Sheet } from '../sheet.ts'
import { stopAfterOf } from './selection/stop-after-failures.ts'
import { SILENT_MS } from './coordination/with-run-lock.ts'

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
  const frames = new RunFrames(sheet, order.actor)
  frames.start(order)
  try {
    const { progress, failures } = await run(sheet, { order, frames, onStarted })
    frames.end({ ...progress, failed: failures.length })
    const { materialized, skipped, totalCost } = progress
    return { materialized, skipped, totalCost, failures }
  } catch (error) {
    frames.error(error)
    throw error
  }
}

interface OrderedRun {
  readonly order: RunOrder
  readonly frames: RunFrames
  onStarted(id: RunId): void
}

async function run(sheet: Sheet, { order, frames, onStarted }: OrderedRun): Promise<RunOutcome> {
  sheet.stopping.throwIfAborted()
  const { store, derivations } = await sheet.deriving()
  const { tasks } = store
  // Checked before waiting for the lock, so that a wrong request fails at once.
  const targets = selectTargets(derivations, order.targets)
  const kept = order.keepFresh === undefined ? null : derivationOf(derivations, order.keepFresh)
  const wanted = kept === null || order.targets !== null ? targets : new Set(kept.targets)
  await checkRecords(store, order.recordIds, wanted)
  sheet.policies()
  if (order.overwriteManual) {
    await requireOverwritable((await resolveSelection(sheet, order, sheet.stopping)).plan, order)
  }
  const id = await store.startRun({ ...order, ...distinctLists(order), silentMs: SILENT_MS })
  const active = new ActiveRun(id, sheet.stopping, store.frames)
  return sheet.runs.during(active, store, () => {
    onStarted(id)
    // Files may be edited while the run waits: they are read once it has the lock.
    return tasks === undefined || order.keepFresh !== undefined
      ? runToEnd(sheet, active, {
          work: () => runLocked(sheet, order, active),
          resultOf: (ended) => outcomeOf(store, ended),
          onReleased: () => frames.suppressEnd(),
        })
      : runShared({ sheet, store, tasks, active, order, frames })
  })
}

async function runLocked(sheet: Sheet, order: RunOrder, active: ActiveRun): Promise<RunOutcome> {
  const { keepFresh: file } = order
  if (file !== undefined) return keepFresh(sheet, { ...order, keepFresh: file }, active)
  const { plan, absent } = await resolveSelection(sheet, order, active.signal)
  const { store } = plan
  const { total } = await store.status()
  const manual = sumOf(await manualCells(plan))
  await store.runLocked(active.id, {
    manual,
    total: (plan.records?.length ?? total) * plan.targets.size + absent.length,
    absent,
  })
  const request: RunRequest = {
    ...plan,
    store,
    id: active.id,
    actor: order.actor,
    manual,
    observer: observe(active, absent.length),
  }
  await prepareCalls(request)
  const { progress, failures } = await runDerivations(request)
  return { progress: withAbsent(progress, absent.length), failures: [...absent, ...failures] }
}

function observe({ feed }: ActiveRun, absent: number): RunObserver {
  return {
    onCells: (cells) => feed.onCells(cells),
    onProgress: (progress) => feed.onProgress(withAbsent(progress, absent)),
  }
}

/** Adds the cells of records that do not exist. */
function withAbsent(progress: RunProgress, absent: number): RunProgress {
  if (absent === 0) return progress
  const { done, total, failed } = progress
  return { ...progress, done: done + absent, total: total + absent, failed: failed + absent }
}
