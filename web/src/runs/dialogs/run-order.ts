import type { RunAnswer, RunSummary } from '../../../../src/wire/runs/runs.ts'
import type { RunOrder } from '../../../../src/client/client.ts'
import { countOf } from '../../ui/format.ts'

/** Returns the order of a run, to repeat it; overwriting manual values is not repeated. */
export function orderOf(run: RunAnswer): RunOrder {
  return {
    ...cellsOf(run),
    ...(run.force ? { force: true } : {}),
    ...(isOnly(run.only) ? { only: run.only } : {}),
    ...(run.limit === null ? {} : { limit: run.limit }),
    ...(run.max_calls === null ? {} : { max_calls: run.max_calls }),
    ...(run.max_cost === null ? {} : { max_cost: run.max_cost }),
    ...(run.reuse_responses ? { reuse_responses: true } : {}),
    ...(run.keep_fresh === undefined ? {} : { keep_fresh: run.keep_fresh }),
    ...(run.stop_after_failures === null ? {} : { stop_after_failures: run.stop_after_failures }),
  }
}

/**
 * Returns an order that retries the failed cells in the scope of a run. Forced if the run was, so that cached results
 * are not used.
 */
export function retryOrderOf(run: RunAnswer): RunOrder {
  return { ...cellsOf(run), only: 'failed', ...(run.force ? { force: true } : {}) }
}

function cellsOf({ targets, record_ids }: RunAnswer): RunOrder {
  return {
    ...(targets === null ? {} : { targets: [...targets] }),
    ...(record_ids === null ? {} : { record_ids: [...record_ids] }),
  }
}

export const ONLY = ['missing', 'stale', 'failed'] as const

export type Only = (typeof ONLY)[number]

export function isOnly(value: string | null): value is Only {
  return ONLY.some((each) => each === value)
}

/** Describes the scope of a run or an order: `2 fields of 12 records`. */
export function describeCells(
  {
    targets,
    recordCount,
  }: { readonly targets: readonly string[] | null; readonly recordCount: number | null },
  titleOf: (field: string) => string,
): string {
  const fields =
    targets === null
      ? 'All derived fields'
      : targets.length <= 3
        ? targets.map(titleOf).join(', ') || 'No fields'
        : `${targets.length} fields`
  const records = recordCount === null ? 'all records' : countOf(recordCount, 'record')
  return `${fields} of ${records}`
}

/** Whether a run can be reverted: it has ended and stored something. */
export function canRevert({ state, materialized }: Pick<RunSummary, 'state' | 'materialized'>): boolean {
  return state !== 'running' && materialized > 0
}
