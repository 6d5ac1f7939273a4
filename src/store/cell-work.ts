import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { PendingInput } from '../errors/block.ts'
import type { StoredFailure } from '../errors/failure.ts'
import type { CellState, WorkState } from './cell-state.ts'
import type { ReceivedResponse } from './stored-responses.ts'
import type { RunId, RunProgress } from './stored-run.ts'

/** A completed call of a run. Its results are in the cache; `failed` has the failure of each target without one. */
export interface SettledCall {
  readonly hash: string
  /** JSON of the process that made the call; null when all targets have results. */
  readonly failed: JsonValue
}

/** Identifies a record for as long as it exists; a record created again after deletion gets another one. */
export type RecordKey = number

export interface WorkQuery {
  /** The targets of one derivation that the run computes. */
  readonly targets: readonly string[]
  readonly inputs: readonly string[]
  /** Whether all records are returned instead of those with a pending cell. */
  readonly force: boolean
  /** Only records with a cell of the targets in this state, whatever `force` is; null for any state. */
  readonly state: WorkState | null
  /** Whether records whose cells are blocked are left out (default: false); not with `force`. */
  readonly ready?: boolean
  /** The bytes of inputs from which the long values of a record are left out; by default none are. Bounds a page, too. */
  readonly inputLimit?: InputBytes
  /** Whether the cells have their failures. */
  readonly failures?: boolean
  readonly after: RecordKey | null
  readonly limit: number
  /** Only these records, in ascending order; null for all. */
  readonly only: readonly RecordKey[] | null
}

/** Bytes of the inputs of a record. */
export interface InputBytes {
  /** Bytes of texts in UTF-8. */
  readonly text: number
  /** Bytes of arrays and objects as JSON text. */
  readonly json: number
}

/** A record with pending cells of a derivation, in the state in which it was read. */
export interface WorkItem {
  readonly key: RecordKey
  readonly id: string
  readonly inputs: { readonly [field: string]: JsonValue }
  /** The bytes of the inputs, present when they exceed the limit: then each long value is true. */
  readonly tooLong?: InputBytes
  /** The inputs that are pending cells themselves. */
  readonly pending: { readonly [field: string]: PendingInput }
  readonly cells: readonly WorkCell[]
}

/** Facts about the failure of a cell. */
export interface WorkFailure {
  /** UTC with milliseconds. */
  readonly at: string
  /** The input hash of a failure that is expected to last; null for any other. */
  readonly inputHash: string | null
}

export interface WorkCell {
  readonly target: string
  readonly state: CellState
  /** Whether it is pending and a run cannot compute it because of an input (D32). */
  readonly blocked: boolean
  /** The input hash of the last successful computation (`sha256:…`), or null. */
  readonly inputHash: string | null
  /** The last failure, where the query asks for it. */
  readonly failure?: WorkFailure
  /**
   * The seq of the last provenance entry that wrote an overridden cell or one of its inputs; absent for any other cell.
   */
  readonly touchedBy?: number
  /** Changes whenever the cell or one of its inputs is written (D28). Opaque. */
  readonly version: string
}

/** Cells whose results may differ since the sources of their derivation changed. */
export interface OutdatedCells {
  readonly cells: readonly {
    readonly id: string
    /** Its fresh cells whose results may differ. */
    readonly targets: readonly string[]
    /** Its failed cells for which nothing is computed any more. */
    readonly skipped: readonly string[]
  }[]
  /** The derived fields of which all cells have been checked, and the version of the sources; null while some have not. */
  readonly checked: { readonly targets: readonly string[]; readonly sources: string | null } | null
  /** Derived fields with a query of which all fresh cells become stale, in any record. Absent for none. */
  readonly all?: readonly string[]
}

/** A derived field whose cells were not checked since the sources of its derivation changed. */
export interface UncheckedTarget {
  readonly field: string
  /** The present version of the sources. */
  readonly sources: string | null
}

/** The result of a successful computation, for later ones with the same hash (D25). */
export interface CacheEntry {
  readonly inputHash: string
  readonly values: { readonly [target: string]: JsonValue }
  /** The members of provenance entries that describe the call. */
  readonly provenance: JsonObject
}

/** Sums of what computations have used, such as tokens, by name. */
export interface RecordedUsage {
  /** The number of computations. */
  readonly results: number
  readonly amounts: { readonly [name: string]: number }
}

/** The usage of one computation, which is added to the sums of a key. Keys `run <id> …` are removed with their run. */
export interface UsedAmounts {
  readonly key: string
  readonly amounts: RecordedUsage['amounts']
}

export interface CellCommit {
  readonly actor: string
  /** The run whose counts of computed and failed cells grow by the stored ones. */
  readonly run: RunId
  /** The other counts of the run's progress. */
  readonly progress: Pick<RunProgress, 'skipped' | 'left' | 'calls' | 'totalCost' | 'unpricedCalls'>
  readonly cells: readonly CellResult[]
  /** Entries to store; values of a known hash are replaced target by target. */
  readonly cache: readonly CacheEntry[]
  /** The calls behind the results, for other processes that wait for them ({@link RunTasks}). */
  readonly made?: readonly SettledCall[]
  /** Responses to keep; one with a known request replaces it. */
  readonly responses?: readonly ReceivedResponse[]
  /** The request keys of kept responses from which cells were computed. */
  readonly used?: readonly string[]
  /** The lines of the calls behind the results for the recording, JSON without line breaks. */
  readonly recorded?: readonly string[]
  /** The usage of the calls behind the results; absent for none. */
  readonly usage?: readonly UsedAmounts[]
}

/** The results of calls without cells, for later computations. */
export type CallResults = Pick<CellCommit, 'cache' | 'responses' | 'used' | 'usage' | 'recorded'>

/** The result of a run for one cell. */
export interface CellResult {
  readonly key: RecordKey
  readonly target: string
  /** The version that was read: a cell whose version has changed since is skipped. */
  readonly version: string
  /** SHA-256 of the derivation file that the run used. */
  readonly sha256: string
  /** The version of the sources that the run used; null or absent for a derivation without any. */
  readonly sources?: string | null
  readonly result:
    | {
        readonly kind: 'computed'
        readonly value: JsonValue
        readonly inputHash: string
        /** The members of the provenance line beyond the common ones. */
        readonly provenance: JsonObject
      }
    /** The hash is that of the last successful computation: fresh again, nothing written (D25, D32). */
    | { readonly kind: 'unchanged' }
    /** Nothing is computed for these inputs: a failed cell is missing or stale again, any other stays as it is. */
    | { readonly kind: 'skipped' }
    | (StoredFailure & {
        readonly kind: 'failed'
        /** The input hash of a failure that is expected to last; absent for any other. */
        readonly inputHash?: string
      })
}

/** `superseded`: the cell or an input was written meanwhile, or the record is deleted; nothing was written (D28). */
export type CellOutcome =
  | {
      readonly outcome: 'stored'
      /** Present when a manual value has been replaced. */
      readonly overwrote?: true
    }
  | { readonly outcome: 'superseded' }
  /** The value violates a constraint that only the store can check, which `detail` names; nothing was written. */
  | { readonly outcome: 'refused'; readonly detail: string }
