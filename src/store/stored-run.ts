import type { ErrorCode, ErrorType } from '../errors/codes.ts'
import type { StoredFailure } from '../errors/failure.ts'
import type { WorkState } from './cell-state.ts'

/** Decimal digits of an ascending number, which continues from the log when a store is recreated. */
export type RunId = string

/** `interrupted`: its process ended or was stopped before the run did. */
export type RunState = 'running' | 'finished' | 'failed' | 'cancelled' | 'interrupted'

export interface RunOrder {
  /** `revert`: the run undoes another run. `import`: it writes the records of a file, and its counts are of records. */
  readonly kind: 'materialize' | 'revert' | 'import'
  /** The run that is undone; null for `materialize`. */
  readonly reverts: RunId | null
  readonly actor: string
  /** The targets of the request; null if it named none. */
  readonly targets: readonly string[] | null
  readonly recordIds: readonly string[] | null
  readonly force: boolean
  /** With `force`: whether overridden cells are computed too, where the actor may write the field (D28). */
  readonly overwriteManual: boolean
  /** Only cells in this state; null for any. */
  readonly only: WorkState | null
  /** The most records, calls and dollars; null for no bound. */
  readonly limit: number | null
  readonly maxCalls: number | null
  readonly maxCost: number | null
  /** Whether kept responses are used instead of calls. */
  readonly reuseResponses: boolean
  /** The derivation file whose stale cells are marked as fresh; absent where cells are computed. */
  readonly keepFresh?: string | undefined
  /** The name of the file of an import; absent for other runs. */
  readonly file?: string | undefined
  /** Consecutive failures at one host that end the run; null for no such bound. */
  readonly stopAfterFailures: number | null
}

export interface NewRun extends RunOrder {
  /** Milliseconds for which the run may be silent while it waits for the run lock; an import never has it. */
  readonly silentMs: number
}

/** The progress of a run, in cells; at its end `done` is `total`, unless it was stopped. */
export interface RunProgress {
  /** Cells that are settled: computed, failed or skipped. */
  readonly done: number
  /** All cells of the run. */
  readonly total: number
  readonly materialized: number
  readonly skipped: number
  readonly failed: number
  /** Calls begun; one call can fill cells of several records, and counts once whatever the number of its tries. */
  readonly calls: number
  /** Dollars. */
  readonly totalCost: number
  /** The calls to hosts without a configured price. */
  readonly unpricedCalls: number
  /** The skipped cells that the bounds of the run left pending. */
  readonly left: number
  /** The numbers of cells that were overridden when the run began and still are, and of those that were computed. */
  readonly manualLeft: number
  readonly manualOverwritten: number
}

/** The scope of a run, determined when it has the run lock. */
export interface RunBegin {
  readonly total: number
  /** Cells that failed because their record does not exist (D29). */
  readonly absent: readonly Omit<RunFailure, 'number' | 'at'>[]
  /** Number of the cells that are overridden. */
  readonly manual: number
}

/** The error that ended a run, or a task of one. */
export interface RunError {
  readonly type: ErrorType
  /** Null for one that an earlier version stored. */
  readonly code: ErrorCode | null
  readonly message: string
}

export interface RunEnd {
  readonly state: Exclude<RunState, 'running'>
  /** The error that ended it early; null for a run that finished. */
  readonly error: RunError | null
  /** The actor who cancelled it; null for any other end, also when the request came too late. */
  readonly cancelledBy: string | null
  readonly progress: RunProgress
}

/** A run in the store. The ids of its records can be many, and are read separately. */
export interface StoredRun extends Omit<RunOrder, 'recordIds'>, RunProgress {
  readonly id: RunId
  /** Number of requested records; null when the request did not filter. */
  readonly recordCount: number | null
  readonly state: RunState
  /** UTC with milliseconds and `Z`. */
  readonly startedAt: string
  /** Null while it runs; of an interrupted run the time when it last stored something. */
  readonly endedAt: string | null
  readonly error: RunEnd['error']
  /** The actor who requested to cancel it; null for none. */
  readonly cancelledBy: string | null
}

/** A failed cell with its failure. */
export interface FailedCell extends StoredFailure {
  readonly recordId: string
  readonly field: string
}

/** A cell that failed in a run. */
export interface RunFailure extends FailedCell {
  /** Ascends within the run, from 1. */
  readonly number: number
  readonly at: string
}

/** The run lock, held. It is released when the process of its holder ends. */
export interface RunLock {
  release(): void
}

/** Conditions for removing ended runs; a run must meet all of them. */
export interface RunPruning {
  /** Those that ended before this time (ISO 8601, UTC, `Z`); null for any time. */
  readonly before: string | null
  /** The number of newest runs of the sheet to keep; 0 to keep none. */
  readonly keep: number
}

/** Runs that can be removed. */
export interface PrunableRuns {
  readonly runs: number
  /** Number of their failed cells. */
  readonly failures: number
}

/** One step of removing runs. */
export interface PruneStep extends PrunableRuns {
  /** Whether there may be more to remove. */
  readonly more: boolean
}
