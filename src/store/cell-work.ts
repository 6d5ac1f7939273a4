import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { ErrorType } from '../errors/codes.ts'
import type { PendingInput } from '../errors/block.ts'
import type { CellState, WorkState } from './cell-state.ts'
import type { ReceivedResponse } from './stored-responses.ts'
import type { RunId, RunProgress } from './stored-run.ts'

/** A call that was made for a run. What it brought is in the cache; `failed` says of each target why it brought nothing. */
export interface SettledCall {
  readonly hash: string
  /** JSON of what the process that made it knows; null when it brought all. */
  readonly failed: JsonValue
}

/** Identifies a record for as long as it exists; a record created again after deletion gets another one. */
export type RecordKey = number

export interface WorkQuery {
  /** The targets of one derivation that the run is about. */
  readonly targets: readonly string[]
  readonly inputs: readonly string[]
  /** True asks for every record, false for those with a cell that is missing, stale or failed. */
  readonly force: boolean
  /** Only records with a cell of the targets in this state, `force` or not; null for no such condition. */
  readonly state: WorkState | null
  /** True leaves out records whose cells are blocked; by default they are not left out, nor where every record is asked for. */
  readonly ready?: boolean
  /** Bytes from which on the value of an input is left out; by default none is. */
  readonly longFrom?: number
  /** Whether the cells come with their failures. */
  readonly failures?: boolean
  readonly after: RecordKey | null
  readonly limit: number
  /** Only these records, in ascending order; null for all. */
  readonly only: readonly RecordKey[] | null
}

/** A record with work for a derivation, as it was when it was read. */
export interface WorkItem {
  readonly key: RecordKey
  readonly id: string
  readonly inputs: { readonly [field: string]: JsonValue }
  /** Present when long values are left out of `inputs`: true stands for each. */
  readonly lacksValues?: true
  /** Those of the inputs that are themselves cells with work to do. */
  readonly pending: { readonly [field: string]: PendingInput }
  readonly cells: readonly WorkCell[]
}

/** What is known of the failure of a cell. */
export interface WorkFailure {
  /** UTC with milliseconds. */
  readonly at: string
  /** The input hash of a failure that is expected to last; null for any other. */
  readonly inputHash: string | null
}

export interface WorkCell {
  readonly target: string
  readonly state: CellState
  /** Whether it has work that a run cannot do because of an input (D32). */
  readonly blocked: boolean
  /** The input hash of the last successful computation (`sha256:…`), or null. */
  readonly inputHash: string | null
  /** Why its last try failed, where the query asks for it. */
  readonly failure?: WorkFailure
  /** Of an overridden cell, the seq of the last provenance entry that wrote it or one of its inputs; absent for any other. */
  readonly touchedBy?: number
  /** Changes whenever the cell or one of its inputs is written (D28). Opaque. */
  readonly mark: string
}

/** What a successful computation left for later ones with the same hash (D25). */
export interface CacheEntry {
  readonly inputHash: string
  readonly values: { readonly [target: string]: JsonValue }
  /** What provenance says of the call that brought the values. */
  readonly provenance: JsonObject
}

export interface CellCommit {
  readonly actor: string
  /** The run that it belongs to; its counts of computed and failed cells grow by what is stored. */
  readonly run: RunId
  /** How far the run is otherwise. */
  readonly progress: Pick<RunProgress, 'skipped' | 'left' | 'calls' | 'totalCost' | 'unpricedCalls'>
  readonly cells: readonly CellResult[]
  /** Entries to add; an entry with a known hash replaces it, target by target. */
  readonly cache: readonly CacheEntry[]
  /** Calls that this comes of, for those who wait for them in other processes ({@link RunTasks}). */
  readonly made?: readonly SettledCall[]
  /** Responses to keep; one with a known request replaces it. */
  readonly responses?: readonly ReceivedResponse[]
  /** The request keys of kept responses that cells were computed from. */
  readonly used?: readonly string[]
}

/** What a run came to for one cell. */
export interface CellResult {
  readonly key: RecordKey
  readonly target: string
  /** As read: a cell whose mark has changed since is left alone. */
  readonly mark: string
  /** SHA-256 of the derivation file that the run used. */
  readonly sha256: string
  readonly result:
    | {
        readonly kind: 'computed'
        readonly value: JsonValue
        readonly inputHash: string
        /** What the provenance line says beyond the common fields. */
        readonly provenance: JsonObject
      }
    /** The hash is that of the last successful computation: fresh again, nothing written (D25, D32). */
    | { readonly kind: 'unchanged' }
    | {
        readonly kind: 'failed'
        readonly error: string
        readonly errorType: ErrorType
        /** What the response began with; absent when there was none, or nothing in it. */
        readonly responseBody?: string
        /** The input hash of a failure that is expected to last; absent for any other. */
        readonly inputHash?: string
      }
}

/** `superseded`: the cell or an input was written meanwhile, or the record is gone; nothing was written (D28). */
export type CellOutcome =
  | {
      readonly outcome: 'stored'
      /** There where a value that was written by hand has been replaced. */
      readonly overwrote?: true
    }
  | { readonly outcome: 'superseded' }
  /** The value breaks a constraint that only the store can check, `detail` says which; nothing was written. */
  | { readonly outcome: 'refused'; readonly detail: string }
