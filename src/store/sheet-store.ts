import type { EntryPlace, FoundEntries, LatestEntries } from './cell-entries.ts'
import type { Contract } from '../contract/contract.ts'
import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import type { ErrorType } from '../errors/codes.ts'
import type { FailureReason, StoredFailure } from '../errors/failure.ts'
import type { FailureGroupId } from '../errors/failure-group.ts'
import type { ListedViolations } from '../errors/violations.ts'
import type { AcceptedProposal } from '../provenance/log-line.ts'
import type { ReadyCounts } from './cell-state.ts'
import type { Condition } from './condition.ts'
import type {
  CacheEntry,
  CallResults,
  CellCommit,
  CellOutcome,
  OutdatedCells,
  RecordedUsage,
  RecordKey,
  UncheckedTarget,
  WorkItem,
  WorkQuery,
} from './cell-work.ts'
import type {
  BaseFile,
  ChangedFile,
  ChangeTexts,
  CellCounts,
  DefinitionEffect,
  StoredChange,
  OutdatedCount,
} from './definition-change.ts'
import type { Dialect } from './dialect.ts'
import type { Erasure, EraseRequest } from './erasure.ts'
import type { FieldChanges, FieldsEffect } from './field-changes.ts'
import type { FormulaInFile, FormulaStore } from './formula.ts'
import type { RecordsQueries } from './records-query.ts'
import type { ResponseStore } from './stored-responses.ts'
import type { RunTasks } from './run-tasks.ts'
import type { SharedFrames } from './shared-frames.ts'
import type { SharedHosts } from './shared-hosts.ts'
import type { ProposalStore } from './stored-proposal.ts'
import type { ReviewCounts, ReviewRequest, ReviewsQuery, StoredReview } from './stored-review.ts'
import type { CellWriter, WriterCounts } from './stored-writer.ts'
import type { LogTreeStore } from './log-tree-store.ts'
import type { NamedStore } from './named/named-store.ts'
import type { ChartState, GroupPeriod } from './named/stored-chart.ts'
import type { ViewState } from './named/stored-view.ts'
import type {
  NewRun,
  PrunableRuns,
  PruneStep,
  RunBegin,
  RunEnd,
  RunFailure,
  RunId,
  RunLock,
  RunPruning,
  StoredRun,
} from './stored-run.ts'

export type { CellState, WorkState } from './cell-state.ts'
export type { Dialect } from './dialect.ts'

/**
 * The records, cell states, cache and log of a sheet, in the engine of its store. Asynchronous throughout, since an engine
 * may be on another computer; nothing outside this folder depends on the engine.
 *
 * Everything that must change together is one *change set*, one transaction: records, the cells that become stale, cache and
 * log. A promise of a writing method settles only after the change set is durable (D17), and the next read has it.
 *
 * Methods return JSON as bytes where the engine produces it faster than JavaScript, and it is sent unchanged.
 */
export interface SheetStore
  extends DefinitionStore, RecordStore, LogStore, ReviewStore, CellStore, RunStore, SharedStore {
  /** Finishes what is under way and closes all files and connections. */
  close(): Promise<void>
}

/** The definition that a store follows, and what the store is. */
export interface DefinitionStore {
  /**
   * Makes the store follow a contract and its derived fields (D9); returns at once when both are unchanged. Fields are
   * renamed, removed and converted only as `changes` says. Throws ContractError, and changes nothing, where stored records
   * would be lost or violate the contract, and OutdatedDefinitionError where the files are not those that the definition was
   * read from. Stores what has changed in the history.
   */
  define(definition: StoreDefinition): Promise<FieldsEffect>
  /** Returns the effect that {@link define} would have now, also where it would be refused. Changes nothing. */
  tryDefine(definition: StoreDefinition): Promise<FieldsEffect>
  /**
   * Makes the store follow a changed definition, and stores the change in the history; then writes the files of a directory, or
   * with the same commit a revision. All of it happens, or nothing: what a crash leaves unwritten is written when the store is next
   * opened or defined. With `dryRun` only the effect is returned. Throws as {@link define} does, and PreconditionFailedError where
   * a file was edited at the very moment of the change.
   */
  changeDefinition(change: DefinitionChange): Promise<DefinitionEffect>
  /** Returns the text of the contract that the store follows. */
  contractText(): Promise<string>
  /** Returns changes of the definition before the id `before`, newest first. */
  definitionChanges(query: ChangesQuery): Promise<readonly StoredChange[]>
  /** Returns a change with the texts of its files; null for an unknown id. */
  definitionChange(id: string): Promise<ChangeTexts | null>
  /** Returns the versions of a derivation file so far, newest first. */
  derivationVersions(file: string): Promise<readonly DerivationVersion[]>
  /** A key of 32 bytes that only this sheet has, and that never changes. */
  readonly cursorKey: Uint8Array
  /**
   * Copies the store as it is at one moment into files in a directory, from which a store of the same state can be opened:
   * all that a sheet's directory has beside its definition files. Among them are `records.jsonl` with the records in
   * creation order and `provenance.jsonl`, for readers of any kind. Reads and writes go on meanwhile. Throws RecordsError.
   */
  snapshot(directory: string): Promise<StoreSnapshot>
}

/** Records: reading, searching and writing them. */
export interface RecordStore {
  /** The dialect of SQL of filters, conditions as text, and statements. */
  readonly dialect: Dialect
  /** Returns a record as JSON text with these fields, and its version; null when there is none. */
  record(id: string, fields: readonly string[]): Promise<VersionedRecord | null>
  /**
   * Returns a page of records (D11). Throws QueryError for a bad filter, and beyond the limits of queries. Throws the reason
   * of the signal once that aborts; a query under way is then stopped.
   */
  page(query: PageQuery, signal?: AbortSignal): Promise<Page>
  /** Returns how many records of a list come before one; null when it is not in the list. Throws as {@link page} does. */
  position(query: PositionQuery, signal?: AbortSignal): Promise<number | null>
  /** Returns a condition as a filter in the dialect of the store, which people can edit. */
  conditionText(condition: Condition): string
  /** Returns a filter with values in place of its `?`. Throws QueryError where their numbers differ. */
  boundFilter(filter: string, params: readonly SqlParam[]): string
  /**
   * Summarizes the values of fields in the records that match a filter, as JSON text of a {@link Summary}. Throws as
   * {@link page} does.
   */
  summary(query: SummaryQuery, signal?: AbortSignal): Promise<JsonBytes>
  /** Groups failed cells by the reason of their failure, as JSON text of {@link FailureGroups}. Throws as {@link page} does. */
  failureGroups(failures: GroupedFailures, signal?: AbortSignal): Promise<JsonBytes>
  /** Computes formulas over the fields of a record. */
  readonly formulas: FormulaStore
  /** Runs queries of derivations over all records. */
  readonly queries: RecordsQueries
  /** Runs one read-only statement (D18, D19), and returns the query result as JSON text. Throws as {@link page} does. */
  query(statement: SqlStatement, signal?: AbortSignal): Promise<JsonBytes>
  /**
   * Inserts or merges records, all or nothing (D13). JSON text is parsed where records are written, so that large bodies
   * do not block other requests. Throws ValidationError for a wrong shape; then PreconditionFailedError where `ifMatch`
   * or `ifAbsent` does not hold; then PermissionDeniedError and ValidationError for violations of the contract.
   */
  upsert(upsert: Upsert): Promise<UpsertResult>
  /**
   * Returns what an upsert would do, with every violation of the contract, permissions and unique fields; changes nothing.
   * Conditions on versions do not count. Throws ValidationError for a wrong shape.
   */
  tryUpsert(upsert: Upsert): Promise<UpsertTrial>
  /**
   * Deletes the records of these ids that exist (D15). With `ifMatch` the one id must exist as in {@link Upsert}, or else
   * this throws PreconditionFailedError, before PermissionDeniedError.
   */
  delete(ids: readonly string[], actor: string, ifMatch?: Upsert['ifMatch']): Promise<DeleteResult>
  /** Returns the records that are deleted, and were not restored, the last deleted first. */
  deletedRecords(page: DeletedPage): Promise<readonly DeletedRef[]>
  /** Returns deletions of records, in the order of the references; null for each that the log does not have. */
  deletions(refs: readonly DeletionRef[]): Promise<readonly (Deletion | null)[]>
  /**
   * Restores deleted records as their deletions left them, all or none: their values, in fields that the actor may not write
   * too, and the states of their cells. They are new records at the end of the order, with the history of the old. Throws
   * PermissionDeniedError for an actor that may not delete (D7), SheetError for a record of which the log has no such
   * deletion, ConflictError for one that exists, ValidationError for values that the contract no longer allows.
   */
  restore(request: RestoreRequest): Promise<RestoreResult>
  /**
   * Erases values of records, present and earlier ones, from the log and everything else that the store keeps, of all or none; lines of the log
   * keep the leaf hash that they were written with. Deletes the records too when no fields are named. Throws
   * PermissionDeniedError for an actor that may not delete (D7), SheetError for a record or a field that never existed, ValidationError for a
   * field that must have a value, and ConflictError during a run and for a record with a waiting proposal.
   */
  erase(request: EraseRequest): Promise<Erasure>
  /** Writes that wait for a decision. */
  readonly proposals: ProposalStore
  /** Named ways to look at the records. */
  readonly views: NamedStore<ViewState>
  readonly charts: NamedStore<ChartState>
}

/** The log: entries of cells, and the sheet as it was at an entry (D35). */
export interface LogStore {
  /** Returns the latest entries of a cell, newest first (D35); null for a record that never existed. */
  provenance(recordId: string, field: string, limit: number): Promise<LatestEntries | null>
  /** Returns the latest entry of a cell before a seq, or none; null for a record that never existed. */
  provenanceBefore(
    recordId: string,
    field: string,
    seq: number,
  ): Promise<{ readonly entry: JsonObject | null } | null>
  /** Returns a page of the entries of a cell, or of a record, oldest first (D35); null for a record that never existed. */
  entries(query: EntriesQuery): Promise<FoundEntries | null>
  /** Returns the latest entry by which a cell was computed with this input hash; null when there is none. */
  computation(recordId: string, field: string, inputHash: string): Promise<JsonObject | null>
  /** Returns the range of entries for which `recordAsOf` and `pageAsOf` know the state. */
  history(): Promise<HistoryRange>
  /** Returns the present names of fields by those that they had before, which may be those of other fields by now. */
  formerNames(): Promise<ReadonlyMap<string, string>>
  /** Returns the last entry up to a seq, or the first after it; null when there is none. */
  entryHead(seq: number, place: 'upTo' | 'after'): Promise<EntryHead | null>
  /** Returns lines of the log, the first after a seq and as many as have about a mebibyte; null for none. */
  logText(query: LogTextQuery): Promise<LogText | null>
  /** Returns the seq of the last entry that is not later than a time (ISO 8601, UTC, `Z`); 0 when there is none. */
  seqAt(time: string): Promise<number>
  /** Returns the time of the clock of entries, UTC with milliseconds; never before the time of the last entry. */
  now(): Promise<string>
  /** Returns a record as it was right after the entry `seq`, as JSON text; null when it did not exist then. */
  recordAsOf(id: string, fields: readonly string[], seq: number): Promise<JsonBytes | null>
  /** Returns the number of records that existed right after the entry `seq`. */
  countAsOf(seq: number): Promise<number>
  /** Returns how many records came before one in creation order right after the entry `seq`; null when it did not exist. */
  positionAsOf(id: string, seq: number): Promise<number | null>
  /** Returns a page of the records that existed right after the entry `seq`, in creation order. */
  pageAsOf(query: PageAsOfQuery): Promise<PastPage>
  /**
   * Puts cells back to their state before the given entries, as one change set, and removes computed values that are put
   * back from the cache. An entry applies to a cell if it is its latest, or if the latest is a revert to it. A cell to which
   * its entry does not apply, or whose earlier value the contract no longer allows, is skipped and is a conflict. Created
   * records are deleted; one whose values were changed since, other than by computations, is a conflict. Throws
   * PermissionDeniedError, and changes nothing, where an entry was written by hand and the actor may not write the field, or
   * may not delete records (D7); SheetError where a cell has no such entry.
   */
  revert(request: RevertRequest): Promise<RevertResult>
  /** The Merkle tree over the lines. */
  readonly tree: LogTreeStore
}

/** Reviews of the values of cells. */
export interface ReviewStore {
  /**
   * Reviews cells, all or none, and returns the seqs of the lines of the log. A review ends when its cell gets another value,
   * and with a later review of the cell. Throws SheetError for a record that does not exist, and ConflictError where a cell
   * has another value than the one that was seen.
   */
  review(request: ReviewRequest): Promise<readonly number[]>
  /** Returns reviews of existing records, newest first. */
  reviews(query: ReviewsQuery): Promise<readonly StoredReview[]>
  /** Counts the cells with a review in force. */
  reviewCounts(): Promise<ReviewCounts>
  /** Counts the cells by the writers of their present values. */
  writerCounts(): Promise<WriterCounts>
  /** Returns the writers of the present values of records, which exist. Values of `records.jsonl` have none. */
  cellWriters(records: ReadonlyMap<RecordKey, string>): Promise<readonly CellWriter[]>
}

/** States of derived cells, and the results of calls (D32). */
export interface CellStore {
  /** Returns the states of each derived field, from counters (D32). */
  status(): Promise<StoreStatus>
  /** Returns the failure of a cell whose last computation failed; null for any other cell. */
  cellFailure(record: RecordKey, target: string): Promise<CellFailureNote | null>
  /** Returns the keys of records for a run; ids that do not exist are left out. */
  recordKeys(ids: readonly string[]): Promise<ReadonlyMap<string, RecordKey>>
  /** Returns the next records with pending cells of a derivation, in creation order. */
  work(query: WorkQuery): Promise<readonly WorkItem[]>
  /** Returns the cache entries that exist for these input hashes. */
  cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>>
  /** Returns what the computations of a key have used; null if there are none. */
  usage(key: string): Promise<RecordedUsage | null>
  /** Stores the results of a run as one change set, and returns the outcome of each cell, in their order. */
  commitCells(commit: CellCommit): Promise<readonly CellOutcome[]>
  /** Stores the results of calls that belong to no run: no cell changes. */
  storeResults(results: CallResults): Promise<void>
  /**
   * Returns the derived fields whose cells were not checked since the sources of their derivation changed: fresh cells may
   * have another input hash now.
   */
  uncheckedTargets(): Promise<readonly UncheckedTarget[]>
  /** Makes fresh cells stale, and stores which derived fields were checked, as one change set without log entries. */
  markOutdated(outdated: OutdatedCells): Promise<void>
  readonly responses: ResponseStore
}

/** Runs, and the lock that one of them holds. */
export interface RunStore {
  /** Stores that a run begins, and returns its id. */
  startRun(run: NewRun): Promise<RunId>
  /** Stores that a run still waits for the run lock, and for how many milliseconds it may be silent from now on. */
  keepWaiting(id: RunId, silentMs: number): Promise<void>
  /**
   * Stores that a run has the run lock, the number of its cells, and those that failed because their record does not exist
   * (D29).
   */
  runLocked(id: RunId, begin: RunBegin): Promise<void>
  /** Stores the progress of a run that makes calls and has no results to store yet. */
  noteCalls(id: RunId, progress: CellCommit['progress']): Promise<void>
  /** Stores how a run ended, with its last counts. */
  endRun(id: RunId, end: RunEnd): Promise<void>
  /** Stores who requests to cancel a run; the process that computes it, this one or another, reads that. */
  requestCancel(id: RunId, actor: string): Promise<void>
  /** Returns the actor that requested to cancel a run; null when nobody did. Called a few times a second during a run. */
  cancelRequest(id: RunId): Promise<string | null>
  /**
   * Marks runs as interrupted that are stored as running and cannot be: runs that once had the run lock, which the caller
   * has now and which is not `except`, and runs that wait for it and were silent for longer than they announced.
   */
  interruptRuns(except: RunId | null): Promise<void>
  /** Counts the runs that can be removed. */
  prunableRuns(which: RunPruning): Promise<PrunableRuns>
  /** Removes some of the runs that can be removed, with their failures; called again until there are no more. */
  pruneRuns(which: RunPruning): Promise<PruneStep>
  run(id: RunId): Promise<StoredRun | null>
  /** Returns the ids of the records that a run was asked for; null when it did not filter. */
  runRecordIds(id: RunId): Promise<readonly string[] | null>
  /** Returns runs, newest first, before the id `before`. Long ones can make it fewer than `limit`, but one if there is any. */
  runs(query: { readonly before: RunId | null; readonly limit: number }): Promise<readonly StoredRun[]>
  /**
   * Returns failures of a run in their order, after the number `after`, 0 for none. Long ones can make it fewer than
   * `limit`, but one if there is any.
   */
  runFailures(query: RunFailuresQuery): Promise<readonly RunFailure[]>
  /** Counts the lines that a run wrote; one line has the entries of all cells of a record that were written together. */
  runEntryCount(run: RunId): Promise<number>
  /**
   * Returns the entries that a run wrote, the last first: at least `limit` if there are as many, and all entries of their
   * lines.
   */
  runEntries(query: RunEntriesQuery): Promise<readonly RunEntry[]>
  /** Takes the sheet's run lock, which no other run in any process can have (D31). Throws LockTimeoutError. */
  lockRun(timeoutMs: number, signal: AbortSignal): Promise<RunLock>
}

/** Coordination of the processes that share a store. A store on one computer has no member of it. */
export interface SharedStore {
  /** Events of runs and writes, for the subscribers of all servers. */
  readonly frames?: SharedFrames
  /** Tasks of runs, which processes that share the store compute together. */
  readonly tasks?: RunTasks
  /** Limits of hosts that hold for the processes of all servers together. */
  readonly hosts?: SharedHosts | undefined
}

/** The contents of a copy of a store. */
export interface StoreSnapshot {
  /** The contract that it follows. */
  readonly contractText: string
  readonly records: number
  /** The seq of the last provenance entry, 0 for none. */
  readonly lastSeq: number
}

/** JSON text in UTF-8, sent on as it is. */
export type JsonBytes = Buffer

export interface ChangesQuery {
  /** Null starts at the newest. */
  readonly before: string | null
  readonly limit: number
}

export interface StoreDefinition {
  readonly contract: Contract
  /** The derived fields, or null to leave them as they are (when a derivation file is broken, D3). */
  readonly targets: readonly TargetDefinition[] | null
  /** The fields that the contract renames, removes and converts; none when absent. */
  readonly changes?: FieldChanges | undefined
  /**
   * The number of the revision, where the definition is in the store: `define` throws OutdatedDefinitionError, and changes
   * nothing, when another one is in force by now.
   */
  readonly revision?: number
  /**
   * The files that the definition was read from, where it is in a directory: `define` throws OutdatedDefinitionError, and changes
   * nothing, when one of them differs by now.
   */
  readonly base?: readonly BaseFile[]
}

/** A change of the definition that a program requests. */
export interface DefinitionChange {
  /** The definition that the files define after the change. */
  readonly definition: StoreDefinition
  readonly files: readonly ChangedFile[]
  /** Every definition file on which the change is based, with those that it adds. */
  readonly base: readonly BaseFile[]
  /** The same files with their bytes, without those that the change adds: edits of them that the store does not follow yet are stored too. */
  readonly present: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  /**
   * The cells whose states a check will change after the change, which its effect counts, by the names of their fields then; see
   * {@link TargetDefinition.isChecked}.
   */
  readonly outdated: ReadonlyMap<string, OutdatedCount>
  /** The formulas of the derivations, which the database checks before anything is stored. */
  readonly formulas: readonly FormulaInFile[]
  readonly actor: string
  /** The reason or the description of the change, for the history; null for none. */
  readonly note: string | null
  /** The id of the change that this one takes back; null for none. */
  readonly reverts: string | null
  /**
   * The waiting proposal that the actor accepts with this change, and its proposer; null for none. It is decided in the same transaction:
   * throws as `ProposalStore.accept` does for one that no longer waits.
   */
  readonly proposal: AcceptedProposal | null
  /** Whether nothing is stored and only the effect is returned. */
  readonly dryRun: boolean
}

/** The members of a change that the history has. */
export type ChangeNote = Pick<DefinitionChange, 'files' | 'actor' | 'note' | 'reverts' | 'proposal'>

/** The members of a derived field that the store needs. Plain data. */
export interface TargetDefinition {
  readonly field: string
  /** Name of the derivation file. */
  readonly derivation: string
  /** Hex SHA-256 of the derivation file. */
  readonly sha256: string
  readonly kind: string
  readonly inputs: readonly string[]
  /** The inputs without whose value no request is made (D22). */
  readonly required: readonly string[]
  /** The required inputs of type string whose empty text counts as no value (`skip_blank`). */
  readonly nonEmpty: readonly string[]
  /** The version of the files that results depend on beside the inputs; null or absent for a derivation without any. */
  readonly sources?: string | null
  /**
   * The fields that its query reads in all records; null or absent for a derivation without one. The store then keeps the version itself:
   * it changes with every write of one of them, and whenever a record is created or deleted.
   */
  readonly reads?: readonly string[] | null
  /**
   * Whether another file makes no cell stale by itself: `sources` differ with it, and a check of the cells finds those that are stale.
   * False if absent.
   */
  readonly isChecked?: boolean
  readonly text: string
}

export interface VersionedRecord {
  readonly json: JsonBytes
  /** Changes whenever a value of the record does, and differs for every state of it. */
  readonly version: string
}

export interface CellFailureNote extends StoredFailure {
  /** The input hash of a failure that is expected to last; absent for any other. */
  readonly inputHash?: string
  readonly at: string
}

/** A version of a derivation file. */
export interface DerivationVersion {
  /** Hex SHA-256 of the file's bytes. */
  readonly sha256: string
  readonly text: string
  /** The time when it first was in force. */
  readonly at: string
}

export interface HistoryRange {
  /**
   * The first seq from which on the state of the sheet is known: 0, or the first entry of the store where a log was
   * imported. Above `last` as long as such a store has no entry of its own.
   */
  readonly first: number
  /** The time of the entry `first`; null when there is none. */
  readonly firstAt: string | null
  /** The seq of the last entry. */
  readonly last: number
}

export interface PageAsOfQuery {
  readonly fields: readonly string[]
  readonly limit: number
  readonly after: RecordKey | null
  /** The number of records before the page, where `after` is null (default: 0). */
  readonly skip?: number
  readonly seq: number
  /** Whether the page has `changed` (default: false). */
  readonly changed?: boolean
}

/** A page in creation order. */
export interface PastPage {
  readonly records: JsonBytes
  readonly next: RecordKey | null
  /** For each record the fields that have another value now; null for a record that was deleted since. */
  readonly changed?: readonly (readonly string[] | null)[]
}

/** Which entry, when, and by whom and what it was written; null for what its line does not have. */
export interface EntryHead {
  readonly seq: number
  readonly at: string | null
  readonly actor: string | null
  readonly source: string | null
}

/** A provenance entry of one cell. */
export interface EntryRef {
  readonly seq: number
  readonly recordId: string
  readonly field: string
}

/** The creation of a record by a run. */
export interface CreationRef {
  readonly seq: number
  readonly recordId: string
  readonly field: null
  /** The record that was created; another of the same id has another key. */
  readonly key: RecordKey
  /** The values of the new record by the present names of their fields; fields without a value are absent. */
  readonly values: JsonObject
}

/** The deletion of a record by a run. */
export interface RunDeletionRef {
  readonly seq: number
  readonly recordId: string
  readonly field: null
  readonly values: null
}

/** An entry of a run: of a cell, or of a record that it created or deleted. */
export type RunEntry = EntryRef | CreationRef | RunDeletionRef

export interface RevertRequest {
  readonly actor: string
  /** The entries of cells, and the creations of records, to undo. Deletions are undone by `restore`, and are conflicts here. */
  readonly entries: readonly RunEntry[]
  /** The run of the revert, when it undoes a whole run; else null. */
  readonly run: RunId | null
}

export interface RevertResult {
  /** The number of entries that were undone. */
  readonly reverted: number
  /** The entries that were not; the field is `id` for a record that was not deleted or restored. */
  readonly conflicts: readonly { readonly recordId: string; readonly field: string }[]
}

export interface DeletionRef {
  readonly recordId: string
  /** The seq of the provenance entry that is the deletion; null for the latest one. */
  readonly seq: number | null
}

export interface DeletedPage {
  /** The seq of the last deletion of the previous page; null for the first page. */
  readonly before: number | null
  readonly limit: number
}

export interface DeletedRef {
  readonly recordId: string
  readonly seq: number
  /** Whether no record with this id was deleted later. */
  readonly isLatest: boolean
}

/** A deletion, with the values that the record had; fields without a value are absent. */
export interface Deletion {
  readonly recordId: string
  readonly seq: number
  /** UTC with milliseconds and `Z`. */
  readonly at: string
  readonly actor: string
  readonly values: JsonObject
}

export interface RestoreRequest {
  readonly actor: string
  /** Each of another record. */
  readonly records: readonly RecordToRestore[]
  /** The run of the revert, when it undoes a run that deleted the records; null or absent otherwise. */
  readonly run?: RunId | null
}

export interface RecordToRestore extends DeletionRef {
  /** The input hashes that the present derivations compute from the record's values, without blocked ones. */
  readonly hashes: readonly CellHash[]
}

export interface CellHash {
  readonly field: string
  /** Hex SHA-256 of the derivation file. */
  readonly sha256: string
  readonly inputHash: string
}

export interface RestoreResult {
  readonly restored: number
}

export interface RunFailuresQuery {
  readonly run: RunId
  readonly after: number
  readonly limit: number
  /** Only failures of this group; null or absent for all. */
  readonly group?: FailureGroupId | null
}

/** The failures to group. */
export interface GroupedFailures extends Pick<PageQuery, 'filter' | 'where'> {
  /** The run whose failures they are, whatever has become of the cells, and of the records; null for the cells that are failed now. */
  readonly run: RunId | null
}

/** The most groups that are listed. */
export const MAX_FAILURE_GROUPS = 100

/** Failed cells by the reason of their failure, as on the wire. */
export interface FailureGroups {
  /** The number of failed cells, of all groups. */
  readonly cells: number
  /** The largest groups, {@link MAX_FAILURE_GROUPS} at most, in descending order of size. */
  readonly groups: readonly FailureGroup[]
}

/** Cells that failed in the same way: with the same type and text, at requests to the same host. */
export interface FailureGroup {
  readonly id: FailureGroupId
  /** The common part of their errors; the whole error of a single cell. */
  readonly text: string
  readonly error_type: ErrorType
  /** Null for failures that an earlier version stored. */
  readonly reason: FailureReason | null
  /** The beginning of the response of one of them; absent for none. */
  readonly response_body?: string
  readonly cells: number
  /** The number of cells of each field. */
  readonly fields: Readonly<Record<string, number>>
  /** The id of a record with one of the cells. */
  readonly record_id: string
}

export interface RunEntriesQuery {
  readonly run: RunId
  /** Entries before this seq; null starts at the last. */
  readonly before: number | null
  readonly limit: number
}

export interface PageQuery {
  readonly fields: readonly string[]
  readonly limit: number
  /** The place after which the page starts, in the same order; null starts at the first record. */
  readonly after: PagePlace | null
  /** A boolean SQL expression over the fields (D16), or null for all records. */
  readonly filter: string | null
  /** A condition as data; it must hold as well as the filter. None when absent. */
  readonly where?: Condition | null
  /** The order; creation order where these fields are equal, or there are none. */
  readonly sort: readonly SortKey[]
  readonly skip: number
}

/** A request for the position of a record in a list. */
export interface PositionQuery extends Pick<PageQuery, 'filter' | 'where' | 'sort'> {
  readonly id: string
  /** A condition: of the records before it, only those that meet it are counted. Null counts all. */
  readonly among?: Condition | null
}

/** A field to sort by. Records without a value come last, whatever the direction. */
export interface SortKey {
  readonly field: string
  readonly descending: boolean
}

/** A record's place in an order. */
export interface PagePlace {
  readonly key: RecordKey
  /** Its values, present or past, in the fields sorted by, in the form in which they are compared. */
  readonly values: readonly SortValue[]
}

export type SortValue = string | number | null

export interface Page {
  /** A JSON array of records. */
  readonly records: JsonBytes
  /** The place after which the next page starts; null exactly when nothing follows. */
  readonly next: PagePlace | null
}

export interface SummaryQuery {
  readonly fields: readonly string[]
  /** See {@link PageQuery.filter}. */
  readonly filter: string | null
  /** See {@link PageQuery.where}. */
  readonly where?: Condition | null
  /**
   * Limits `top` to the values, or items, that contain this text in any case, {@link MAX_FOUND_VALUES} at most, those that
   * begin with it first. Absent or null for the most frequent values of all.
   */
  readonly search?: string | null
  /** Counts the records by their values; absent or null for no groups. */
  readonly groups?: GroupQuery | null
  /** Divides the histograms by the values of a field; absent or null for none. */
  readonly split?: SplitQuery | null
}

/** A field, of any type but arrays and objects, whose values divide a histogram. */
export interface SplitQuery {
  readonly by: string
  readonly period: GroupPeriod
}

/** Groups of records with the same value; fields may be of any type but arrays and objects. */
export interface GroupQuery {
  readonly by: string
  /** Divides each group by the values of a second field; null for none. */
  readonly split: string | null
  /** The numbers and integers that are added up in each group. */
  readonly totals: readonly string[]
  readonly period: GroupPeriod
}

/** The most groups that a summary lists. */
export const MAX_GROUPS = 1000

/** Records with the same value. */
export interface RecordGroup {
  /** Null for no value; of dates and timestamps the period, such as `2026-03`. */
  readonly value: string | number | boolean | null
  /** The value of the second field, if there is one. */
  readonly split?: string | number | boolean | null
  readonly count: number
  /** The sum of each field that is added up; 0 without values. */
  readonly totals: Readonly<Record<string, number>>
}

/** The most values that a summary lists when it searches. */
export const MAX_FOUND_VALUES = 50

/** A summary of records, field by field. */
export interface Summary {
  readonly count: number
  readonly fields: { readonly [field: string]: FieldSummary }
  /** The largest groups, {@link MAX_GROUPS} at most, in descending order of size; without those of long texts. Present if asked for. */
  readonly groups?: readonly RecordGroup[]
}

export interface FieldSummary {
  /** Number of records without a value. */
  readonly nulls: number
  /** Distribution of the values of fields with a scale. Absent when there is none. */
  readonly histogram?: Histogram
  /** Number of different values of other fields; of arrays, of different items. */
  readonly distinct?: number
  /** The most frequent values, or items, in descending order of frequency, then in their own order; without long texts. */
  readonly top?: readonly { readonly value: JsonValue; readonly count: number }[]
}

/** Numbers of values in ranges of equal width, from the least value on. */
export interface Histogram {
  /** The least and the greatest value: numbers, or texts, of timestamps in UTC. The greatest is in the last range. */
  readonly from: string | number
  readonly to: string | number
  /** The width of a range; of dates in days, of timestamps in seconds. */
  readonly step: number
  readonly counts: readonly number[]
  /** The counts of the {@link MAX_SPLITS} most frequent values of a second field, in descending order; without long texts. */
  readonly splits?: readonly HistogramSplit[]
}

/** The most values by which a histogram is divided. */
export const MAX_SPLITS = 10

/** The part of a histogram with one value of a second field. */
export interface HistogramSplit {
  readonly value: RecordGroup['value']
  /** In the ranges of the histogram. */
  readonly counts: readonly number[]
}

/** A statement from a user. */
export interface SqlStatement {
  readonly sql: string
  readonly params: readonly SqlParam[]
  /** Whether the response has `columns`, the names of the columns in their order (default: false). */
  readonly columns?: boolean
}

/** A positional parameter of a statement (D18). */
export type SqlParam = null | boolean | number | string

export interface Upsert {
  /** JSON text in UTF-8 of `{"records": [...], "actor"?: string}`, or that value. */
  readonly body: Uint8Array | string | JsonObject
  /** The actor if the body names none. */
  readonly defaultActor: string | null
  /** The actor, whatever the body names. */
  readonly actor?: string
  /** The versions of which the one record of the body must have one; `*` for any existing record; null for no condition. */
  readonly ifMatch: readonly string[] | '*' | null
  /** Whether none of the records may exist (default: false). */
  readonly ifAbsent?: boolean
  /**
   * The import that writes the records, whose counts increase with them; null or absent for other writes. Throws OperationError
   * where it does not run any more.
   */
  readonly run?: RunId | null
  /** The name of the file that the run imports; null or absent for other writes. */
  readonly file?: string | null
}

export interface UpsertResult {
  readonly inserted: number
  readonly updated: number
  /** Number of updated records in which nothing changed. */
  readonly unchanged: number
  readonly total: number
  /** The new version of the record, when the body had exactly one; null otherwise. */
  readonly version: string | null
}

/** The outcome of an upsert without its changes. Records with violations are not counted. */
export interface UpsertTrial extends Pick<UpsertResult, 'inserted' | 'updated' | 'unchanged'> {
  /** At most a hundred of each sort: permissions, and all others. */
  readonly violations: ListedViolations
}

export interface DeleteResult {
  readonly deleted: number
  readonly remaining: number
}

export interface StoreStatus {
  readonly total: number
  /** Records created later have a higher key. */
  readonly lastKey: RecordKey
  /** The seq of the last provenance entry; 0 for none. */
  readonly lastSeq: number
  readonly targets: readonly TargetStatus[]
}

/** Counts and last events of one derived field; `fresh` to `overridden` add up to the number of records. */
export interface TargetStatus extends CellCounts {
  readonly field: string
  /** The pending cells that are not blocked, by state. */
  readonly ready: ReadyCounts
  /** The time and actor of the last computation of a cell of this field, and the text of its last failure. */
  readonly lastAt: string | null
  readonly lastActor: string | null
  readonly lastError: string | null
}

export interface LogTextQuery {
  readonly after: number
  /** The seq of the last line. */
  readonly upTo: number
}

/** Lines of the log in their order, as `provenance.jsonl` has them. */
export interface LogText {
  /** UTF-8, each line with its line break. */
  readonly text: Uint8Array
  /** The seq of the last line. */
  readonly last: number
}

export interface EntriesQuery {
  readonly recordId: string
  /** Null for the entries of all fields; those of one line are not divided into pages. */
  readonly field: string | null
  /** Null starts at the first entry. */
  readonly from: EntryPlace | null
  readonly limit: number
  /** The seq of the last entry (default: the last of the log). */
  readonly upTo?: number
}
