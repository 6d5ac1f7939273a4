import { renderFailure, type Failure } from '../errors/failure.ts'
import { OperationError, ServiceError, type ErrorType } from '../errors/service-error.ts'
import {
  runDerivations,
  wouldCall,
  type CellFailure,
  type RunOutcome,
  type RunRequest,
} from '../derivation/materializer.ts'
import type { RecordKey } from '../store/sheet-store.ts'
import { selectTargets } from './read-status.ts'
import { resolveActor } from './resolve-actor.ts'
import type { Sheet } from './sheet.ts'

export interface MaterializeRequest {
  /** Target fields; null for all, an empty list for none (D29). */
  readonly targets: readonly string[] | null
  /** Records; null for all, an empty list for none. */
  readonly recordIds: readonly string[] | null
  readonly force: boolean
  readonly actor: string | null
}

/** What a run came to, in cells (D30). */
export interface MaterializeResult {
  readonly materialized: number
  readonly skipped: number
  readonly failures: readonly { recordId: string; field: string; error: string; errorType: ErrorType }[]
  readonly totalCost: number
}

/**
 * Runs the derivations of the sheet and stores what they compute, as it comes (H3, D25–D31). Publishes
 * `materialize.start`, then `materialize.end` or `materialize.error`; a fault of the actor publishes nothing (D40).
 */
export async function materialize(sheet: Sheet, request: MaterializeRequest): Promise<MaterializeResult> {
  return sheet.during(publishRun(sheet, request, resolveActor(sheet, request.actor)))
}

async function publishRun(
  sheet: Sheet,
  request: MaterializeRequest,
  actor: string,
): Promise<MaterializeResult> {
  const { targets, recordIds, force } = request
  sheet.events.publish({ kind: 'materialize.start', ts: now(), actor, targets, recordIds, force })
  try {
    const { materialized, skipped, failures } = await run(sheet, request, actor)
    const totalCost = 0
    sheet.events.publish({
      kind: 'materialize.end',
      ts: now(),
      actor,
      materialized,
      skipped,
      failures: failures.length,
      totalCost,
    })
    return { materialized, skipped, totalCost, failures: failures.map(toReport) }
  } catch (error) {
    const { type, message } =
      error instanceof ServiceError ? error : { type: 'ServiceError', message: 'internal error' }
    sheet.events.publish({ kind: 'materialize.error', ts: now(), actor, errorType: type, message })
    throw error
  }
}

async function run(sheet: Sheet, request: MaterializeRequest, actor: string): Promise<RunOutcome> {
  const { store, derivations } = await sheet.deriving()
  // A mistake is told at once, not when the lock is there.
  selectTargets(derivations, request.targets)
  const lock = await store.lockRun(sheet.lockTimeoutMs, sheet.stopping)
  try {
    // Files may have been edited while the run waited.
    return await runLocked(sheet, request, actor)
  } finally {
    lock.release()
  }
}

async function runLocked(sheet: Sheet, request: MaterializeRequest, actor: string): Promise<RunOutcome> {
  const { contract, store, derivations } = await sheet.deriving()
  const targets = selectTargets(derivations, request.targets)
  const { recordIds, force } = request
  const keys = recordIds === null ? null : await store.recordKeys(targets.size === 0 ? [] : recordIds)
  const only = keys === null ? null : [...keys.values()].toSorted((a, b) => a - b)
  const runRequest: RunRequest = {
    contract,
    levels: derivations.levels,
    targets,
    only,
    force,
    actor,
    store,
    signal: sheet.stopping,
  }
  await prepare(runRequest)
  const outcome = await runDerivations(runRequest)
  return { ...outcome, failures: [...absent(recordIds, keys, targets), ...outcome.failures] }
}

/** Makes sure, before any call, that each derivation the run would call has what its calls need (D23). */
async function prepare(request: RunRequest): Promise<void> {
  for (const derivation of request.levels.flat()) {
    if (!derivation.targets.some((target) => request.targets.has(target))) continue
    try {
      derivation.kind.prepare(derivation.spec)
    } catch (error) {
      if (!(error instanceof OperationError) || (await wouldCall(request, derivation))) throw error
    }
  }
}

/** A failure for each target of each record that does not exist (D29). */
function absent(
  recordIds: readonly string[] | null,
  keys: ReadonlyMap<string, RecordKey> | null,
  targets: ReadonlySet<string>,
): CellFailure[] {
  if (recordIds === null || keys === null || targets.size === 0) return []
  return [...new Set(recordIds)]
    .filter((id) => !keys.has(id))
    .flatMap((recordId) => {
      const failure: Failure = { reason: 'no-record', recordId }
      return [...targets].map((field) => ({ recordId, field, ...renderFailure(failure) }))
    })
}

function toReport({
  recordId,
  field,
  error,
  error_type: errorType,
}: CellFailure): MaterializeResult['failures'][number] {
  return { recordId, field, error, errorType }
}

function now(): string {
  return new Date().toISOString()
}
