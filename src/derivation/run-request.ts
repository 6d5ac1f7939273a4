import type { Contract } from '../contract/contract.ts'
import type { JsonValue } from '../contract/json/json.ts'
import type { RenderedFailure } from '../errors/failure.ts'
import type { Block } from '../errors/block.ts'
import type { SettledCall } from '../store/cell-work.ts'
import type { ResponseStore } from '../store/stored-responses.ts'
import type { CallWish } from '../store/run-tasks.ts'
import type { RecordKey, WorkItem } from '../store/cell-work.ts'
import type { SheetStore, WorkState } from '../store/sheet-store.ts'
import type { RunId, RunProgress } from '../store/stored-run.ts'
import type { Derivation } from './definition/derivation-kind.ts'
import type { FailureStreak } from './failure-streak.ts'
import type { Limiter } from './limiter/limiter.ts'
import type { HostPolicies } from './definition/host-policies.ts'

/** What planning a run needs of a store. */
export type PlanStore = Pick<SheetStore, 'status' | 'work' | 'cached' | 'hosts' | 'provenance'> & {
  readonly responses: Pick<ResponseStore, 'find' | 'read' | 'now'>
}

/** What the materializer needs of a store. */
export type RunStore = PlanStore & Pick<SheetStore, 'commitCells'>

/** Which cells a run is about, and how they are computed. */
export interface PlanRequest {
  readonly contract: Contract
  /** Derivations in levels, each after those it depends on. */
  readonly levels: readonly (readonly Derivation[])[]
  /** The target fields to compute. */
  readonly targets: ReadonlySet<string>
  /** The records that the run is about, ascending; null for all. */
  readonly records: readonly RecordKey[] | null
  readonly force: boolean
  /** With `force`, the targets whose cells are computed even where they were written by hand (D28). */
  readonly overwritable: ReadonlySet<string>
  /** Only cells in this state; null for every cell with work, with `force` for every cell. */
  readonly only: WorkState | null
  /** Only so many records that have work, untried ones first; the cells of the others are left alone. Null for no bound. */
  readonly limit: number | null
  /** No call starts that would be one more than this, or bring the cost above that many dollars; null for no bound. */
  readonly maxCalls: number | null
  readonly maxCost: number | null
  /** Takes kept responses instead of making calls, and equal requests of the run once. */
  readonly reuseResponses: boolean
  /** Failures in a row at one host that end the run; null for no such bound. */
  readonly stopAfterFailures: number | null
  readonly policies: HostPolicies
  /** Limits calls beside those of other runs of this process. */
  readonly limiter: Limiter
  /** The time by which failures are left alone, in milliseconds since 1970. */
  readonly now: number
  readonly store: PlanStore
  /** Stops the run: no new call starts, calls under way are aborted, what is stored stays. */
  readonly signal: AbortSignal
}

export interface RunRequest extends PlanRequest {
  readonly id: RunId
  readonly actor: string
  readonly store: RunStore
  readonly observer: RunObserver
  /** Of the cells, how many have a value written by hand when the run begins. */
  readonly manual: number
  /** The calls that processes share; absent where one process makes all. */
  readonly calls?: SharedCalls
}

/** A piece of a run: what one derivation computes of some records. */
export interface TaskRequest extends Omit<
  RunRequest,
  'levels' | 'records' | 'limit' | 'maxCalls' | 'maxCost' | 'manual'
> {
  /** The failures of the run that this process has seen. */
  readonly streak: FailureStreak
  readonly derivation: Derivation
  /** Those that it depends on, directly or not, each after those that it depends on itself. */
  readonly before: readonly Derivation[]
  /** Ascending; null for all that there is work for. */
  readonly records: readonly RecordKey[] | null
  /** No record that came later is part of it. */
  readonly lastKey: RecordKey
  /** Of the last provenance entry when the run began. */
  readonly lastSeq: number
  readonly calls: SharedCalls
  /** Of records that may have been computed before, the cells that the run has settled; null where there can be none. */
  readonly settled:
    ((items: readonly WorkItem[]) => Promise<ReadonlyMap<RecordKey, ReadonlySet<string>>>) | null
}

/** The calls of a run that several processes compute: equal ones are made once, by one of them. */
export interface SharedCalls {
  /**
   * Waits until it is known who makes a call: null when whoever asked does. Throws NoRoom where the bounds of the run have no
   * room for it, and the signal's reason when aborted.
   */
  claim(call: CallWish, signal: AbortSignal): Promise<SettledCall | null>
  /** A call that was claimed brings nothing; one that was sent counts all the same. */
  release(call: CallWish, wasSent: boolean): Promise<void>
  /** Replaces the price of a call that was claimed by what it cost, in dollars. */
  settle(call: CallWish, cost: number): Promise<void>
}

/** Told of a run as it goes; must neither throw nor take long. */
export interface RunObserver {
  /** Cells have been stored; called after every commit. */
  onCells(cells: readonly CellChange[]): void
  /** Something of the progress has changed; called often. */
  onProgress(progress: RunProgress): void
}

/** What a run came to for one cell. */
export type CellChange = { readonly recordId: string; readonly field: string } & (
  { readonly state: 'fresh'; readonly value: JsonValue } | ({ readonly state: 'failed' } & RenderedFailure)
)

export interface CellFailure extends RenderedFailure {
  readonly recordId: string
  readonly field: string
}

/** What a run came to, in cells. */
export interface RunOutcome {
  readonly progress: RunProgress
  readonly failures: readonly CellFailure[]
}

/**
 * Why a run does not compute a cell: it is blocked, or an input has not been computed yet and the run does not compute it
 * either. For a run, a stale input is what it was.
 */
export type RunBlock = Block | { readonly reason: 'input_missing'; readonly field: string }

/** What a run would do, in cells of each target; `compute`, `cached` and `skipped` add up to the cells that it is about. */
export interface TargetPlan {
  /** To be computed by a call. */
  readonly compute: number
  /** To be filled from the cache. */
  readonly cached: number
  /** Left alone. */
  readonly skipped: number
  /** Of these, cells with work that `maxCalls` or `maxCost` leaves no room for; absent when there are none. */
  readonly left?: number
  /** Of these, how many the run does not compute because of an input, by the reason; absent where there are none. */
  readonly blocked?: { readonly [reason in RunBlock['reason']]?: number }
  /** Of the skipped cells, those that failed and are not tried again yet; absent where there are none. */
  readonly retryLater?: RetryLater
  /** The calls for it that a kept response answers; absent where there is none. */
  readonly kept?: KeptCalls
  /** Of the cells left alone, those that have a value written by hand; absent where there are none. */
  readonly manualLeft?: number
  /** Of the others, those that lose a value written by hand; absent where there are none. */
  readonly manualOverwritten?: number
}

/** Cells that failed, and that a run leaves alone for a time. */
export interface RetryLater {
  readonly cells: number
  /** When the first of them is tried again; null where none ever is. */
  readonly next: string | null
}

/** Calls that a kept response answers, where responses are reused, or would answer. */
export interface KeptCalls {
  readonly calls: number
  /** When the oldest and the newest of these responses were received. */
  readonly oldest: string
  readonly newest: string
}

export interface RunPlan {
  readonly targets: { readonly [target: string]: TargetPlan }
  readonly calls: number
  /** Dollars. */
  readonly cost: number
  /** Of the calls, how many go to hosts of which nobody has said what a call costs; absent when there are none. */
  readonly unpricedCalls?: number
  /** Cells that keep, and cells that lose a value written by hand, of all targets; absent where there are none. */
  readonly manualLeft?: number
  readonly manualOverwritten?: number
  /** Whether calls and cost are upper bounds, since inputs of some cells are themselves computed in the run. */
  readonly atMost: boolean
}
