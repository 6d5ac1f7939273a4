import { ValidationError } from '../../errors/service-error.ts'
import type { PrunableRuns, RunPruning } from '../../store/stored-run.ts'
import type { Sheet } from '../sheet.ts'

/** The runs to remove; those under way are never removed. */
export interface PruneRequest {
  /** Removes only runs that ended longer ago than this, in milliseconds; null for any time. */
  readonly olderThanMs: number | null
  /** The number of newest runs to keep; null for none. */
  readonly keep: number | null
}

/** Counts the runs that {@link pruneRuns} would remove. Throws as it does. */
export async function prunableRuns(sheet: Sheet, request: PruneRequest): Promise<PrunableRuns> {
  const { store } = await sheet.current()
  const which = pruningOf(request, await sheet.now())
  return store.prunableRuns(which)
}

/**
 * Removes runs that have ended, with their failures, and returns the counts. The log and the states of cells stay as
 * they are: a cell that failed keeps its failure. A removed run can no longer be reverted as a whole. Works in steps,
 * so that other writes run in between. Throws ValidationError for a bad condition, and when there is no condition.
 */
export async function pruneRuns(sheet: Sheet, request: PruneRequest): Promise<PrunableRuns> {
  const { store } = await sheet.current()
  const which = pruningOf(request, await sheet.now())
  const removed = { runs: 0, failures: 0 }
  for (;;) {
    sheet.stopping.throwIfAborted()
    const { runs, failures, more } = await store.pruneRuns(which)
    removed.runs += runs
    removed.failures += failures
    if (!more) return removed
  }
}

function pruningOf({ olderThanMs, keep }: PruneRequest, now: number): RunPruning {
  if (olderThanMs === null && keep === null) {
    throw new ValidationError('which runs? Give the age of those to remove, or how many to keep')
  }
  if (keep !== null && !(Number.isSafeInteger(keep) && keep >= 0)) {
    throw new ValidationError(`keep must be a whole number of runs, at least 0, got ${keep}`, 'out_of_range')
  }
  if (olderThanMs !== null && !(olderThanMs >= 0)) {
    throw new ValidationError(
      `the age of runs must be at least 0 milliseconds, got ${olderThanMs}`,
      'out_of_range',
    )
  }
  const before = olderThanMs === null ? null : new Date(now - olderThanMs).toISOString()
  return { before, keep: keep ?? 0 }
}
