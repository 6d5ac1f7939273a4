import type { ErrorType } from '../errors/codes.ts'
import type { WorkState } from './cell-state.ts'

/** Decimal digits of a number that counts up, and goes on counting when a store is made anew beside its log. */
export type RunId = string

/** `interrupted`: its process ended or was stopped before the run did. */
export type RunState = 'running' | 'finished' | 'failed' | 'cancelled' | 'interrupted'

/** What a run was asked to do. */
export interface RunOrder {
  /** `revert`: the run puts back what another run wrote. */
  readonly kind: 'materialize' | 'revert'
  /** The run that is put back; null for `materialize`. */
  readonly reverts: RunId | null
  readonly actor: string
  /** As the request had them; null when it did not filter. */
  readonly targets: readonly string[] | null
  readonly recordIds: readonly string[] | null
  readonly force: boolean
  /** With `force`: whether cells that were written by hand are computed too, where the actor may write the field (D28). */
  readonly overwriteManual: boolean
  /** Only cells that were in this state; null for no such condition. */
  readonly only: WorkState | null
  /** At most so many records, calls and dollars; null for no bound. */
  readonly limit: number | null
  readonly maxCalls: number | null
  readonly maxCost: number | null
  /** Whether kept responses were used instead of calls. */
  readonly reuseResponses: boolean
  /** The derivation file whose stale cells were marked as fresh; absent where cells were computed. */
  readonly keepFresh?: string | undefined
  /** Failures in a row at one host that end the run; null for no such bound. */
  readonly stopAfterFailures: number | null
}

export interface NewRun extends RunOrder {
  /** For how long, in milliseconds, nothing need be heard of the run while it waits for the run lock. */
  readonly silentMs: number
}

/** How far a run is, in cells; at its end `done` is `total`, unless it was stopped. */
export interface RunProgress {
  /** Cells that are settled: computed, failed or left alone. */
  readonly done: number
  /** Cells that the run is about. */
  readonly total: number
  readonly materialized: number
  readonly skipped: number
  readonly failed: number
  /** Calls begun; one call can fill cells of several records, and counts once however often it is tried. */
  readonly calls: number
  /** Dollars. */
  readonly totalCost: number
  /** Of the calls, how many went to hosts of which nobody had said what a call costs. */
  readonly unpricedCalls: number
  /** Of the cells left alone, those with work that the bounds of the run left no room for. */
  readonly left: number
  /** Of the cells that had a value written by hand when the run began, those that still have it, and those that were computed. */
  readonly manualLeft: number
  readonly manualOverwritten: number
}

/** What a run turns out to be about once it has the run lock. */
export interface RunBegin {
  /** Cells. */
  readonly total: number
  /** Cells that failed because their record does not exist (D29). */
  readonly absent: readonly Omit<RunFailure, 'number' | 'at'>[]
  /** Of the cells, those that have a value written by hand. */
  readonly manual: number
}

/** How a run ended. */
export interface RunEnd {
  readonly state: Exclude<RunState, 'running'>
  /** What ended it early; null for a run that finished. */
  readonly error: { readonly type: ErrorType; readonly message: string } | null
  /** Who cancelled it; null for any other end, also when somebody wished for it too late. */
  readonly cancelledBy: string | null
  readonly progress: RunProgress
}

/** A run as the store knows it. The records that it was asked for can be many, and are read apart. */
export interface StoredRun extends Omit<RunOrder, 'recordIds'>, RunProgress {
  readonly id: RunId
  /** How many records it was asked for; null when the request did not filter. */
  readonly recordCount: number | null
  readonly state: RunState
  /** UTC with milliseconds and `Z`. */
  readonly startedAt: string
  /** Null while it runs; of an interrupted run when it last stored something. */
  readonly endedAt: string | null
  readonly error: RunEnd['error']
  /** Who asked it to end; null when nobody did. */
  readonly cancelledBy: string | null
}

/** A cell that failed, and why. */
export interface FailedCell {
  readonly recordId: string
  readonly field: string
  readonly error: string
  readonly errorType: ErrorType
  /** What the response began with; absent when there was none, or nothing in it. */
  readonly responseBody?: string
}

/** A cell that failed in a run. */
export interface RunFailure extends FailedCell {
  /** Counts up within the run, from 1. */
  readonly number: number
  readonly at: string
}

/** The run lock, held. Gone by itself when its holder's process ends. */
export interface RunLock {
  release(): void
}

/** Conditions for removing ended runs; a run must meet all of them. */
export interface RunPruning {
  /** Those that ended before this time (ISO 8601, UTC, `Z`); null for any time. */
  readonly before: string | null
  /** All but so many of the newest runs of the sheet; 0 for all. */
  readonly keep: number
}

/** Runs that can be removed. */
export interface PrunableRuns {
  readonly runs: number
  /** Cells that failed in them. */
  readonly failures: number
}

/** A step of removing runs. */
export interface PruneStep extends PrunableRuns {
  /** Whether there may be more to remove. */
  readonly more: boolean
}
