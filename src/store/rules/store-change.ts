import type { Contract, Field } from '../../contract/contract.ts'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import type { RecordChange, RevertLine, ReviewLine, Unnumbered } from '../../provenance/log-line.ts'
import type { RecordKey } from '../cell-work.ts'
import type { DecidedRow, ProposedRow } from '../rows/proposal-queries.ts'
import type { Query, Statement } from '../rows/query.ts'
import type { StoredTarget, StoredTargets } from '../rows/stored-targets.ts'
import type { Deletion, DeletionRef } from '../sheet-store.ts'
import type { CellLog } from './cell-log.ts'
import type { Loaded, Steps } from './steps.ts'
import type { UniqueClaims } from './unique-claims.ts'

/** A record within a change. */
export interface StoredRecord {
  readonly key: RecordKey
  readonly id: string
  /** The seq of its last change. */
  readonly version: number
  value(field: Field): JsonValue
}

export interface NewRecord {
  readonly id: string
  /** From {@link StoreChange.newKey}. */
  readonly key: RecordKey
  readonly seq: number
  readonly record: JsonObject
  /** The values of the fields of the contract, in its order. */
  readonly values: readonly JsonValue[]
  /** The value of a field that was written and not computed; null for none. */
  written(field: string): JsonValue
}

/** New values of fields of a record. */
export interface FieldChange {
  readonly fields: readonly Field[]
  /** Their values, perhaps among others. */
  readonly values: JsonObject
  /** The seq of the line of the change. */
  readonly seq: number
}

export interface ChangedRecords {
  /** Returns the record with an id that was loaded; `undefined` when there is none. */
  get(id: string): StoredRecord | undefined
  update(record: StoredRecord, change: FieldChange): void
}

/** The states of the cells of records that were loaded or created (D32). */
export interface ChangedCells extends StoredTargets {
  deleted(record: RecordKey): void
  writtenByHand(
    target: StoredTarget,
    record: RecordKey,
    write: { readonly hasValue: boolean; readonly seq: number },
  ): void
  restored(
    target: StoredTarget,
    record: RecordKey,
    computed: { readonly hash: Uint8Array; readonly seq: number },
  ): void
  unchanged(target: StoredTarget, record: RecordKey): void
  outdated(target: StoredTarget, record: RecordKey): void
  skipped(target: StoredTarget, record: RecordKey): void
  inputWritten(field: string, record: RecordKey, seq: number): void
  /** Notes that cells were reviewed: reviews end when values change. */
  reviewed(): void
}

/** A deletion in the log, and the life of the record that it ended; null for one in an imported log. */
export interface LoggedDeletion extends Deletion {
  readonly life: RecordKey | null
}

/** The log, with the entries of earlier changes of the transaction. */
export interface ChangeLog {
  /** Returns the log of a cell; null for a record that never existed. */
  cell(recordId: string, field: Field): Loaded<CellLog | null>
  /** Whether an entry belongs to this life of its record, or to one that the life continues after a restore. */
  isOfLife(entry: { readonly seq: number; readonly key: RecordKey }): Loaded<boolean>
  /** Returns deletions in the order of the references; null for each that the log does not have. */
  deletions(refs: readonly DeletionRef[]): Loaded<readonly (LoggedDeletion | null)[]>
}

/** Returns the ids of the records that have a value in a unique field. */
export type Holders = (field: Field, value: JsonValue) => Iterable<string>

/**
 * A change of the store in a transaction of an engine. The rules load the data for their decision, decide, and leave
 * records, cells and lines of the log in their new state. All of it happens or nothing.
 */
export interface StoreChange {
  readonly contract: Contract
  /** Time of the change, UTC with milliseconds (D40). */
  readonly at: string
  readonly db: {
    query<T>(query: Query<T>): Loaded<T>
    change(statement: Statement): Loaded<number>
  }
  readonly records: ChangedRecords
  readonly cells: ChangedCells
  readonly log: ChangeLog
  /** Reads the records with these ids and the states of their cells, as far as they exist. */
  load(ids: readonly string[]): Loaded<void>
  /** Returns the key of a record that is about to be inserted, which no record has had before. */
  newKey(): RecordKey
  insert(record: NewRecord): void
  /** Reads the values that records keep of removed and converted fields, by their columns; only those that have any. */
  keptValues(keys: readonly RecordKey[]): Loaded<ReadonlyMap<RecordKey, JsonObject>>
  /** Deletes a record; `seq` is that of the line of the deletion. */
  delete(record: StoredRecord, seq: number): void
  /** Returns the number of records, as the change leaves it. */
  totalRecords(): number
  /** Adds the line of a record's change to the log, and returns its seq. */
  logRecord(change: RecordChange, record: RecordKey): number
  /** Adds the line of a reverted cell to the log, and returns its seq. */
  logRevert(line: Unnumbered<RevertLine>, record: RecordKey): number
  /** Adds the line of a review to the log, and returns its seq. */
  logReview(line: Unnumbered<ReviewLine>, record: RecordKey): number
  /** Reads which records have the values that are claimed. */
  holders(claims: UniqueClaims): Loaded<Holders>
  /** Inserts the rows of a proposal's records. */
  insertProposed(proposal: number, records: readonly ProposedRow[]): Loaded<void>
  /** Stores decisions on parts in the rows of a proposal's records. */
  decideProposed(proposal: number, records: readonly DecidedRow[]): Loaded<void>
  /** Removes results of derivations from the cache. */
  forgetResults(results: readonly CachedResult[]): Loaded<void>
  /** Carries out steps and takes back what they changed. */
  tryOut<T>(steps: (trial: StoreChange) => Steps<T>): Loaded<T>
  /** Carries out steps of several operations, together where that saves round trips. */
  together<T>(steps: readonly Steps<T>[]): Loaded<readonly T[]>
  /** Writes what was changed so far into the tables, so that a large change does not take up memory. */
  flush(): Loaded<void>
  /** Yields to other requests of the thread. */
  pause(): Loaded<void>
}

/** The result of a derivation for one target, in the cache. */
export interface CachedResult {
  readonly inputHash: string
  readonly target: string
}

/** Whether a value sent for a field, possibly of a wrong type, equals the stored one. */
export function isStored(sent: unknown, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return sent === value
  return typeof sent === 'object' && sent !== null && jsonEqual(sent, value)
}
