import type { CellCommit } from '../cell-work.ts'
import type { RevertResult, UpsertResult } from '../sheet-store.ts'
import type { FailedCell, NewRun, RunBegin, RunEnd, RunId } from '../stored-run.ts'
import type { QueryParam, Statement } from './query.ts'
import { runNumber, type StoredRequest } from './stored-rows.ts'

/** The increase of a run's counts by one commit. */
export interface RunGain {
  readonly materialized: number
  readonly failures: readonly FailedCell[]
  /** Overridden cells that were computed. */
  readonly overwritten: number
  readonly progress: CellCommit['progress']
}

/** New values of columns of a row of `$run`. */
export interface RunUpdate {
  readonly set: Readonly<Record<string, QueryParam>>
  /** Numbers to add to columns. */
  readonly add?: Readonly<Record<string, number>>
}

/** Returns the request of a run as its row stores it. */
export function requestText(run: NewRun): string {
  const { targets, recordIds, force, only, limit, maxCalls, maxCost } = run
  const { overwriteManual, reuseResponses, keepFresh, file, stopAfterFailures } = run
  const request: StoredRequest = {
    targets,
    recordCount: recordIds?.length ?? null,
    force,
    overwriteManual,
    only,
    limit,
    maxCalls,
    maxCost,
    reuseResponses,
    keepFresh,
    file,
    stopAfterFailures,
  }
  return JSON.stringify(request)
}

/**
 * Returns the update of a run that has the run lock. It runs, even if it was marked as interrupted for having waited too
 * long.
 */
export function runBegun({ total, absent, manual }: RunBegin, at: string): RunUpdate {
  const counts = { total, failed: absent.length, manual_left: manual }
  return { set: { state: 'running', ended_at: null, waits_until: null, active_at: at, ...counts } }
}

/** Adds a commit to the counts of its run; its progress is that of the run. */
export function runGained(gain: RunGain, at: string): RunUpdate {
  return { set: { ...progressOf(gain), active_at: at }, add: cellsOf(gain) }
}

/** Adds a commit of a task to the counts of its run; its progress is the increase. */
export function runGrew(gain: RunGain, at: string): RunUpdate {
  return { set: { active_at: at }, add: { ...cellsOf(gain), ...progressOf(gain) } }
}

function progressOf({ progress }: RunGain): Readonly<Record<string, number>> {
  const { skipped, left, calls, totalCost, unpricedCalls } = progress
  return { skipped, left_cells: left, calls, total_cost: totalCost, unpriced_calls: unpricedCalls }
}

function cellsOf({ materialized, failures, overwritten }: RunGain): Readonly<Record<string, number>> {
  return {
    materialized,
    failed: failures.length,
    manual_left: -overwritten,
    manual_overwritten: overwritten,
  }
}

/** Adds a part of a revert to the counts of its run. */
export function runReverted({ reverted, conflicts }: RevertResult, at: string): RunUpdate {
  return { set: { active_at: at }, add: { materialized: reverted, skipped: conflicts.length } }
}

/** Adds records to the counts of an import, while it runs. */
export function importGained(
  id: RunId,
  { inserted, updated, unchanged }: Pick<UpsertResult, 'inserted' | 'updated' | 'unchanged'>,
  at: string,
): Statement {
  return {
    sql: `UPDATE "$run" SET active_at = ?2, materialized = materialized + ?3, skipped = skipped + ?4
          WHERE id = ?1 AND state = 'running'`,
    params: [runNumber(id), at, inserted + updated - unchanged, unchanged],
  }
}

/** Stores the end of a run, with its last counts. */
export function runEnded({ state, error, cancelledBy, progress }: RunEnd, at: string): RunUpdate {
  const { total, materialized, skipped, left, failed, calls, totalCost, unpricedCalls } = progress
  return {
    set: {
      state,
      cancelled_by: cancelledBy,
      error: error?.message ?? null,
      error_type: error?.type ?? null,
      error_code: error?.code ?? null,
      ended_at: at,
      active_at: at,
      total,
      materialized,
      skipped,
      failed,
      left_cells: left,
      calls,
      total_cost: totalCost,
      unpriced_calls: unpricedCalls,
    },
  }
}

/** Updates the row of a run. `plus` returns SQL of the engine that adds a parameter to a column. */
export function updateRun(
  id: RunId,
  { set, add = {} }: RunUpdate,
  plus: (column: string, parameter: string) => string = (column, parameter) => `${column} + ${parameter}`,
): Statement {
  const params: QueryParam[] = [runNumber(id)]
  const columns = [
    ...Object.entries(set).map(([column, value]) => `${column} = ?${params.push(value)}`),
    ...Object.entries(add).map(([column, value]) => `${column} = ${plus(column, `?${params.push(value)}`)}`),
  ]
  return { sql: `UPDATE "$run" SET ${columns.join(', ')} WHERE id = ?1`, params }
}

/** Stores the actor who requested to cancel a run: the first one, and only while it runs. */
export function requestCancel(id: RunId, actor: string): Statement {
  return {
    sql: `UPDATE "$run" SET cancelled_by = ?1 WHERE id = ?2 AND state = 'running' AND cancelled_by IS NULL`,
    params: [actor, runNumber(id)],
  }
}
