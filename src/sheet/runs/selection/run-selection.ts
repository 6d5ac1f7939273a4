import type { CellFailure, PlanRequest } from '../../../derivation/run-request.ts'
import { renderFailure, type Failure } from '../../../errors/failure.ts'
import { ValidationError } from '../../../errors/service-error.ts'
import type { RecordKey } from '../../../store/cell-work.ts'
import type { SheetStore, WorkState } from '../../../store/sheet-store.ts'
import { overwritableTargets } from './overwritable-targets.ts'
import { selectTargets } from '../../select-targets.ts'
import { requirePrices } from './require-prices.ts'
import { checkAbsent, checkLists } from './run-limits.ts'
import type { DerivingSheet, Sheet } from '../../sheet.ts'
import { stopAfterOf } from './stop-after-failures.ts'

/** The cells that a run computes. Absent members mean null. */
export interface RunSelection {
  /** The target fields; null for all, an empty list for none (D29). */
  readonly targets: readonly string[] | null
  /** The ids of the records; null for all, an empty list for none. */
  readonly recordIds: readonly string[] | null
  readonly force: boolean
  /** With `force`, also recomputes manual values in fields that the actor may write; by default they are kept. */
  readonly overwriteManual?: boolean
  /** Computes only cells in this state; null for all pending cells. */
  readonly only?: WorkState | null
  /** The most records with pending cells, never tried ones first, then the oldest failures; null for no bound. */
  readonly limit?: number | null
  /** The most calls, and the most dollars: no call starts that would exceed either; null for no bound. */
  readonly maxCalls?: number | null
  readonly maxCost?: number | null
  /** Uses kept responses instead of making calls; by default every call is made. */
  readonly reuseResponses?: boolean
  /** The name of an edited derivation file: marks its stale cells as fresh and computes nothing. */
  readonly keepFresh?: string | undefined
  /** The failures in a row at one host that end the run early; null or 0 for no bound. */
  readonly stopAfterFailures?: number | null
}

/** Throws ValidationError for an invalid bound, and for lists that are too long. */
export function checkBounds(selection: RunSelection): void {
  checkLists(selection)
  const { limit = null, maxCalls = null, maxCost = null, stopAfterFailures = null } = selection
  if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new ValidationError(
      `limit must be a whole number of records, at least 1, got ${limit}`,
      'out_of_range',
    )
  }
  if (maxCalls !== null && !(Number.isSafeInteger(maxCalls) && maxCalls >= 0)) {
    throw new ValidationError(`max_calls must be a whole number, at least 0, got ${maxCalls}`, 'out_of_range')
  }
  if (maxCost !== null && !(maxCost >= 0)) {
    throw new ValidationError(
      `max_cost must be a number of dollars, at least 0, got ${maxCost}`,
      'out_of_range',
    )
  }
  if (stopAfterFailures !== null && !(Number.isSafeInteger(stopAfterFailures) && stopAfterFailures >= 0)) {
    throw new ValidationError(
      `stop_after_failures must be a whole number, at least 0, got ${stopAfterFailures}`,
      'out_of_range',
    )
  }
}

/**
 * Resolves the names of a selection in the present sheet. `actor` decides which manual values may be overwritten.
 * Throws ValidationError for too many records that do not exist.
 */
export async function resolveSelection(
  sheet: Sheet,
  selection: RunSelection & { readonly actor?: string },
  signal: AbortSignal,
): Promise<{ plan: PlanRequest & Pick<DerivingSheet, 'store'>; absent: readonly CellFailure[] }> {
  const { contract, store, derivations } = await sheet.deriving()
  const targets = selectTargets(derivations, selection.targets)
  const { recordIds, force, only = null, limit = null, maxCalls = null, maxCost = null } = selection
  const { reuseResponses = false } = selection
  requirePrices({ levels: derivations.levels, targets, maxCost })
  const { keys, absent } = await findRecords(store, recordIds, targets)
  const plan = {
    contract,
    levels: derivations.levels,
    targets,
    records: keys === null ? null : [...keys.values()].toSorted((a, b) => a - b),
    force,
    overwritable: overwritableTargets(contract, { ...selection, targets }),
    only,
    limit,
    maxCalls,
    maxCost,
    reuseResponses,
    stopAfterFailures: stopAfterOf(selection),
    policies: sheet.policies(),
    limiter: sheet.limiter,
    now: await sheet.now(),
    store,
    signal,
  }
  return { plan, absent: absentCells(absent, targets) }
}

/** Throws ValidationError when too many of these records do not exist (D29). */
export async function checkRecords(
  store: SheetStore,
  recordIds: readonly string[] | null,
  targets: ReadonlySet<string>,
): Promise<void> {
  await findRecords(store, recordIds, targets)
}

/** Returns the keys of the records that exist, null for all, and the ids of the others. */
async function findRecords(
  store: SheetStore,
  recordIds: readonly string[] | null,
  targets: ReadonlySet<string>,
): Promise<{ keys: ReadonlyMap<string, RecordKey> | null; absent: readonly string[] }> {
  if (recordIds === null) return { keys: null, absent: [] }
  if (targets.size === 0) return { keys: new Map(), absent: [] }
  const ids = [...new Set(recordIds)]
  const keys = await store.recordKeys(ids)
  const absent = ids.filter((id) => !keys.has(id))
  checkAbsent(absent, targets.size)
  return { keys, absent }
}

/** Returns a failure for each target of each record that does not exist (D29). */
function absentCells(absent: readonly string[], targets: ReadonlySet<string>): CellFailure[] {
  return absent.flatMap((recordId) => {
    const failure: Failure = { reason: 'no_record', recordId }
    return [...targets].map((field) => ({ recordId, field, ...renderFailure(failure) }))
  })
}
