import type { Contract } from '../contract/contract.ts'
import type { JsonValue } from '../contract/json/json.ts'
import type { RenderedFailure } from '../errors/failure.ts'
import type { Block } from '../errors/block.ts'
import type { SettledCall } from '../store/cell-work.ts'
import type { FormulaStore } from '../store/formula.ts'
import type { RecordsQueries } from '../store/records-query.ts'
import type { ResponseStore } from '../store/stored-responses.ts'
import type { CallToClaim } from '../store/run-tasks.ts'
import type { RecordKey, WorkItem } from '../store/cell-work.ts'
import type { SheetStore, WorkState } from '../store/sheet-store.ts'
import type { FailedCell, RunId, RunProgress } from '../store/stored-run.ts'
import type { Derivation } from './definition/derivation-kind.ts'
import type { Limiter } from './limiter/limiter.ts'
import type { HostPolicies } from './definition/host-policies.ts'

/** The part of a store that planning a run needs. */
export type PlanStore = Pick<SheetStore, 'status' | 'work' | 'cached' | 'usage' | 'hosts' | 'provenance'> &
  Partial<Pick<SheetStore, 'uncheckedTargets' | 'markOutdated'>> & {
    /** Absent in a store without formulas. */
    readonly formulas?: FormulaStore
    /** Absent in a store without queries over all records. */
    readonly queries?: RecordsQueries | undefined
    readonly responses: Pick<ResponseStore, 'find' | 'read' | 'now'>
  }

/** The part of a store that computing needs. */
export type RunStore = PlanStore &
  Pick<SheetStore, 'commitCells'> & { readonly responses: Pick<ResponseStore, 'limit'> }

/** The cells that a run covers, and the way of computing them. */
export interface PlanRequest {
  readonly contract: Contract
  /** Derivations in levels, each after those it depends on. */
  readonly levels: readonly (readonly Derivation[])[]
  /** The target fields to compute. */
  readonly targets: ReadonlySet<string>
  /** The records that the run covers, ascending; null for all. */
  readonly records: readonly RecordKey[] | null
  readonly force: boolean
  /** With `force`, the targets whose cells are computed even if they were written by hand (D28). */
  readonly overwritable: ReadonlySet<string>
  /** Only cells in this state; null for every pending cell, with `force` for every cell. */
  readonly only: WorkState | null
  /** Most records with pending cells to compute, untried ones first; the cells of the others are skipped. Null for no bound. */
  readonly limit: number | null
  /** Most calls that begin, and most dollars that they may cost together; null for no bound. */
  readonly maxCalls: number | null
  readonly maxCost: number | null
  /** Uses kept responses instead of calls, and makes equal requests of the run once. */
  readonly reuseResponses: boolean
  /** Failures in a row at one host that end the run; null for no bound. */
  readonly stopAfterFailures: number | null
  readonly policies: HostPolicies
  /** Limits calls together with those of other runs of this process. */
  readonly limiter: Limiter
  /** The current time, by which failed cells are due again, in milliseconds since 1970. */
  readonly now: number
  readonly store: PlanStore
  /** Stops the run: no new call starts, calls under way are aborted, stored values are kept. */
  readonly signal: AbortSignal
}

export interface RunRequest extends PlanRequest {
  readonly id: RunId
  readonly actor: string
  readonly store: RunStore
  readonly observer: RunObserver
  /** The calls that processes share; absent if one process makes all. */
  readonly calls?: SharedCalls
  /** Returns the cells of these records that the run has settled before; absent if it can have settled none. */
  readonly settled?:
    ((items: readonly WorkItem[]) => Promise<ReadonlyMap<RecordKey, ReadonlySet<string>>>) | undefined
}

/** The calls of a run that several processes compute: one of them makes each of several equal calls. */
export interface SharedCalls {
  /**
   * Waits until it is decided who makes a call: null if the caller does. Throws NoRoom if it would exceed the bounds of the run, and the
   * signal's reason when aborted.
   */
  claim(call: CallToClaim, signal: AbortSignal): Promise<SettledCall | null>
  /** Releases a claimed call without a result; if it was sent, it still counts. */
  release(call: CallToClaim, wasSent: boolean): Promise<void>
  /** Replaces the price of a claimed call by its actual cost, in dollars. */
  settle(call: CallToClaim, cost: number): Promise<void>
}

/** Observes a run; its methods must neither throw nor take long. */
export interface RunObserver {
  /** The computation of cells begins, with a call. `stored` settles, without rejecting, when its results are stored or it is given up. */
  onBegun(cells: readonly CellOfRun[], stored: Promise<void>): void
  /** Cells have been stored; called after every commit. */
  onCells(cells: readonly CellChange[]): void
  /** The progress has changed; called often. */
  onProgress(progress: RunProgress): void
}

/** A cell of a run. */
export interface CellOfRun {
  readonly recordId: string
  readonly field: string
}

/** The result of a run for one cell. */
export type CellChange = CellOfRun &
  ({ readonly state: 'fresh'; readonly value: JsonValue } | ({ readonly state: 'failed' } & RenderedFailure))

/** A cell that failed, and why. */
export type CellFailure = Omit<FailedCell, 'responseBody'>

/**
 * The reason why a run does not compute a cell: it is blocked, or an input is missing that the run does not compute either. For a run, a
 * stale input has its old value.
 */
export type RunBlock = Block | { readonly reason: 'input_missing'; readonly field: string }

/** The plan of a run for each target, in cells; `compute`, `cached` and `skipped` add up to all cells that it covers. */
export interface TargetPlan {
  /** To be computed by a call. */
  readonly compute: number
  /** To be filled from the cache. */
  readonly cached: number
  /** Cells that are skipped. */
  readonly skipped: number
  /** Skipped cells that exceed `maxCalls` or `maxCost`; absent for none. */
  readonly left?: number
  /** Skipped cells that an input blocks, by the reason; absent for none. */
  readonly blocked?: { readonly [reason in RunBlock['reason']]?: number }
  /** Skipped cells that failed and are not tried again yet; absent for none. */
  readonly retryLater?: RetryLater
  /** The calls for the target that a kept response replaces; absent for none. */
  readonly kept?: KeptCalls
  /** Skipped cells that have a value written by hand; absent for none. */
  readonly manualLeft?: number
  /** Cells whose value written by hand is overwritten; absent for none. */
  readonly manualOverwritten?: number
}

/** Failed cells that a run does not try again yet. */
export interface RetryLater {
  readonly cells: number
  /** The time of the first next try; null if there is none. */
  readonly next: string | null
}

/** Calls that a kept response replaces, if responses are reused, or could replace. */
export interface KeptCalls {
  readonly calls: number
  /** The times at which the oldest and the newest of these responses were received. */
  readonly oldest: string
  readonly newest: string
}

/** An estimate of what the calls of a run use; tokens are those of models. */
export interface UsageEstimate {
  readonly inputTokens: number
  readonly outputTokens: number
  /** In dollars, with calls of other kinds; without calls of an unknown price. */
  readonly cost: number
  /** The results whose mean is the estimate of calls; 0 for none. */
  readonly results: number
  /** Whether the estimate of calls is made from the length of their prompts. */
  readonly fromBytes: boolean
}

/** The calls of a run in which fallbacks may make calls needless, and their cost in dollars. */
export interface CallRange {
  readonly least: { readonly calls: number; readonly cost: number }
  /** By the results of steps so far, of which there are `results`; absent if there are too few. */
  readonly expected?: { readonly calls: number; readonly cost: number; readonly results: number }
}

export interface RunPlan {
  readonly targets: { readonly [target: string]: TargetPlan }
  readonly calls: number
  /** In dollars. */
  readonly cost: number
  /** Absent if no fallback may make a call needless. */
  readonly range?: CallRange
  /** Absent if no call uses tokens. */
  readonly estimate?: UsageEstimate
  /** Calls to hosts without a price; absent for none. */
  readonly unpricedCalls?: number
  /** Cells of all targets that keep, and that lose, a value written by hand; absent for none. */
  readonly manualLeft?: number
  readonly manualOverwritten?: number
  /** Whether calls and cost are upper bounds, since the run computes inputs of some cells. */
  readonly atMost: boolean
}
