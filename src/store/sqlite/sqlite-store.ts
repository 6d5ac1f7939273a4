import { deletedBefore } from '../rows/deleted-records.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Field } from '../../contract/contract.ts'
import { parseStoredContract } from '../../contract/odcs/parse-contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { boundFilter } from '../rules/sql/bound-filter.ts'
import type { Condition } from '../condition.ts'
import type { LogTreeStore } from '../log-tree-store.ts'
import type { NamedStore } from '../named/named-store.ts'
import type { ChartState } from '../named/stored-chart.ts'
import type { ViewState } from '../named/stored-view.ts'
import type { ReviewCounts, ReviewRequest, ReviewsQuery, StoredReview } from '../stored-review.ts'
import { readCellWriters, readWriterCounts } from '../rules/written/read-writers.ts'
import type { CellWriter, WriterCounts } from '../stored-writer.ts'
import { givenRows } from './database/given-rows.ts'
import { REVIEW_COUNTS, reviewsBefore } from '../rows/reviews.ts'
import type { Erasure, EraseRequest } from '../erasure.ts'
import type { FieldsEffect } from '../field-changes.ts'
import type { SetAside } from '../../provenance/set-aside.ts'
import type { FoundEntries, LatestEntries } from '../cell-entries.ts'
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
} from '../cell-work.ts'
import type { ChangeTexts, DefinitionEffect, StoredChange } from '../definition-change.ts'
import { ConflictError, PreconditionFailedError } from '../../errors/service-error.ts'
import { knownField, knownFields } from '../fields/known-field.ts'
import { OutdatedDefinitionError } from '../revision-store.ts'
import { changeById, changesBefore, STORED_CONTRACT } from '../rows/definition-changes.ts'
import type { DefineRequest, TakenLines } from './write/writer-protocol.ts'
import type {
  CellFailureNote,
  GroupedFailures,
  ChangesQuery,
  DefinitionChange,
  EntriesQuery,
  EntryHead,
  DeleteResult,
  DeletedPage,
  DeletedRef,
  Deletion,
  DeletionRef,
  HistoryRange,
  DerivationVersion,
  RunEntry,
  JsonBytes,
  LogText,
  LogTextQuery,
  Page,
  PageAsOfQuery,
  PageQuery,
  PastPage,
  PositionQuery,
  RestoreRequest,
  RestoreResult,
  RevertRequest,
  RevertResult,
  RunEntriesQuery,
  RunFailuresQuery,
  SheetStore,
  SortKey,
  SqlParam,
  SqlStatement,
  StoreDefinition,
  StoreSnapshot,
  StoreStatus,
  SummaryQuery,
  Upsert,
  UpsertResult,
  UpsertTrial,
  VersionedRecord,
} from '../sheet-store.ts'
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
} from '../stored-run.ts'
import { storedLogTree } from '../rules/log/stored-log-tree.ts'
import { prunableRuns } from '../rules/prune-runs.ts'
import { entriesOfCells } from '../rules/log/record-entries.ts'
import { runAsync, runSync } from '../rules/steps.ts'
import {
  cancelRequest,
  runById,
  runEntryCount,
  runFailures,
  runRecordIds,
  runsBefore,
} from '../rows/run-queries.ts'
import { queryVersion, UNCHECKED_TARGETS } from '../rows/stored-targets.ts'
import { commitText } from './write/commit-text.ts'
import { storePaths } from './definition/create-store.ts'
import { Reader, TOO_LARGE } from './read/reader.ts'
import { reading, readingOn } from './database/reading.ts'
import { takeRunLock } from './database/run-lock.ts'
import { hasSortIndex } from './database/schema.ts'
import { SqliteProposals } from './sqlite-proposals.ts'
import { SqliteNamed } from './sqlite-named.ts'
import { CHARTS, VIEWS } from '../rules/named/named-kinds.ts'
import { conditionText } from './sql/condition-sql.ts'
import type { PageRun } from './sql/run-page.ts'
import type { SortTerm } from './sql/sort-sql.ts'
import { SqliteResponses } from './sqlite-responses.ts'
import { sqlTokens } from './sql/sql-lexer.ts'
import { FormulaProcess } from './queries/formula-process.ts'
import { QueryProcess } from './queries/query-process.ts'
import { SqlPool, type QueryLimits } from './sql/sql-pool.ts'
import { readRunEntries } from './read/run-entries.ts'
import { takeSnapshot } from './snapshot/take-snapshot.ts'
import { canBeId } from './database/values.ts'
import { transferable } from './database/thread-client.ts'
import { asMessage, WriterClient } from './write/writer-client.ts'

/** Record ids looked up without a pause. */
const IDS_AT_ONCE = 1000

/** Failures converted to text without a pause. */
const FAILURES_AT_ONCE = 5000

const ONE_RECORD = { limit: 1, filter: null, sort: [], skip: 0 } as const

export interface SqliteStoreOptions {
  /** Null leaves an existing store with the definition that it follows. */
  readonly definition: StoreDefinition | null
  /** The actor of an import of `records.jsonl`, should one be necessary. */
  readonly actor: string
  readonly lockTimeoutMs: number
  readonly queryLimits: QueryLimits
  /** The writing thread, where one has been started already. */
  readonly writer?: WriterClient | undefined
  /** Called when `records.jsonl` is not the file that was imported (D2). */
  onSourceDiffers(): void
  /** Called when lines of `provenance.jsonl` that the store does not have were moved to another file. */
  onSetAside?(lines: SetAside): void
  /** Called when lines of another copy of the sheet were taken over from `provenance.jsonl`. */
  onTakenOver?(taken: TakenLines): void
  /** Called when this process has written some hundred lines of the log, with their number. */
  onLines?: (count: number) => void
}

/** A sheet's store in one SQLite file beside the contract. */
export class SqliteStore implements SheetStore {
  readonly dialect = 'sqlite'
  readonly cursorKey: Uint8Array
  readonly proposals: SqliteProposals
  readonly views: NamedStore<ViewState>
  readonly charts: NamedStore<ChartState>
  readonly tree: LogTreeStore
  readonly responses: SqliteResponses
  readonly formulas: FormulaProcess
  readonly queries: QueryProcess
  readonly #databasePath: string
  readonly #lockPath: string
  readonly #writer: WriterClient
  readonly #reader: Reader
  readonly #sql: SqlPool
  #definition: StoreDefinition

  private constructor(parts: {
    cursorKey: Uint8Array
    databasePath: string
    lockPath: string
    writer: WriterClient
    reader: Reader
    sql: SqlPool
    formulas: FormulaProcess
    queries: QueryProcess
    definition: StoreDefinition
  }) {
    this.cursorKey = parts.cursorKey
    this.#databasePath = parts.databasePath
    this.#lockPath = parts.lockPath
    this.#writer = parts.writer
    this.#reader = parts.reader
    this.#sql = parts.sql
    this.formulas = parts.formulas
    this.queries = parts.queries
    this.#definition = parts.definition
    this.proposals = new SqliteProposals({
      writer: parts.writer,
      db: parts.reader.connection,
      records: this,
      contract: () => this.#definition.contract,
    })
    const named = {
      writer: parts.writer,
      db: parts.reader.connection,
      contract: () => this.#definition.contract,
    }
    this.views = new SqliteNamed(VIEWS, named)
    this.charts = new SqliteNamed(CHARTS, named)
    const { reader, writer } = parts
    this.tree = storedLogTree({
      query: async (query) => reading(() => reader.connection.query(query)),
      leaves: (after, limit) => reader.leaves(after, limit),
      line: (seq) => reader.line(seq),
      addNodes: (nodes) => writer.call('addNodes', nodes),
      addCheckpoint: (checkpoint) => writer.call('addCheckpoint', checkpoint),
    })
    this.responses = new SqliteResponses(parts.writer, parts.reader.connection)
  }

  /** Opens the store in a sheet's directory, or creates it from `records.jsonl` (D2). */
  static async open(directory: string, options: SqliteStoreOptions): Promise<SqliteStore> {
    const { actor, lockTimeoutMs, queryLimits } = options
    const paths = storePaths(directory)
    const { writer = new WriterClient() } = options
    if (options.onSetAside !== undefined) writer.onSetAside = options.onSetAside
    if (options.onTakenOver !== undefined) writer.onTakenOver = options.onTakenOver
    if (options.onLines !== undefined) writer.onLines = options.onLines
    try {
      const define = options.definition === null ? null : defineRequest(options.definition)
      const opened = await orOutdated(writer.call('open', { directory, actor, lockTimeoutMs, define }))
      const definition = options.definition ?? {
        contract: parseStoredContract(opened.contractText),
        targets: null,
      }
      if (opened.sourceDiffers) options.onSourceDiffers()
      const reader = new Reader(paths.database, definition.contract)
      return new SqliteStore({
        cursorKey: opened.cursorKey,
        databasePath: paths.database,
        lockPath: paths.lock,
        writer,
        reader,
        sql: new SqlPool({ path: paths.database, limits: queryLimits }),
        formulas: new FormulaProcess(queryLimits),
        queries: new QueryProcess({
          path: paths.database,
          limits: queryLimits,
          version: (query) => reader.connection.query(queryVersion(query)),
        }),
        definition,
      })
    } catch (error) {
      await writer.close()
      throw error
    }
  }

  async define(definition: StoreDefinition): Promise<FieldsEffect> {
    const effect = await orOutdated(this.#writer.call('define', defineRequest(definition)))
    this.#use(definition)
    return effect
  }

  #use({ changes: _, ...definition }: StoreDefinition): void {
    this.#reader.use(definition.contract)
    this.#definition = definition
  }

  tryDefine(definition: StoreDefinition): Promise<FieldsEffect> {
    return orOutdated(this.#writer.call('define', { ...defineRequest(definition), dryRun: true }))
  }

  async changeDefinition({
    definition,
    formulas: _,
    ...change
  }: DefinitionChange): Promise<DefinitionEffect> {
    const request = { ...change, define: defineRequest(definition) }
    const { effect, edited } = await orOutdated(this.#writer.call('changeDefinition', request))
    if (!change.dryRun) this.#use(definition)
    const [first] = edited
    if (first === undefined) return effect
    throw new PreconditionFailedError(
      `${first} was saved by another program at the same moment, and keeps its text; read the definition, and change it again`,
    )
  }

  async contractText(): Promise<string> {
    return reading(() => this.#reader.connection.query(STORED_CONTRACT))
  }

  async definitionChanges(query: ChangesQuery): Promise<readonly StoredChange[]> {
    return reading(() => this.#reader.connection.query(changesBefore(query)))
  }

  async definitionChange(id: string): Promise<ChangeTexts | null> {
    return reading(() => this.#reader.connection.query(changeById(id)))
  }

  async record(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    const record = reading(() => this.#reader.record(id, fields))
    return record === TOO_LARGE ? this.#largeRecord(id, fields) : record
  }

  /** Reads a record that takes long, until its version is the same before and after the read. */
  async #largeRecord(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    for (;;) {
      const before = reading(() => this.#reader.placeOf(id))
      if (before === null) return null
      const after = { key: before.key - 1, values: [] }
      const { records } = await this.#search({ ...ONE_RECORD, fields, after })
      if (reading(() => this.#reader.placeOf(id))?.version !== before.version) continue
      return { json: records.subarray(1, -1), version: before.version }
    }
  }

  async page(query: PageQuery, signal?: AbortSignal): Promise<Page> {
    const { filter, where = null, sort } = query
    if (filter === null && where === null && sort.length === 0) {
      const page = reading(() => this.#reader.page(query))
      if (page !== TOO_LARGE) return page
      const after = { key: reading(() => this.#reader.startOf(query)), values: [] }
      return this.#search({ ...query, after, skip: 0 }, signal)
    }
    if (filter !== null) return this.#search(query, signal)
    return readingOn(this.#reader.search(this.#pageRun(query), () => this.#search(query, signal)))
  }

  /** Reads a page in a query process. */
  #search(query: PageQuery, signal?: AbortSignal): Promise<Page> {
    return this.#sql.page(this.#pageRun(query), signal)
  }

  #pageRun(query: PageQuery): PageRun {
    return {
      ...query,
      fields: this.#fields(query.fields),
      allFields: this.#definition.contract.fields,
      sort: this.#sortTerms(query.sort),
    }
  }

  async position({ sort, ...query }: PositionQuery, signal?: AbortSignal): Promise<number | null> {
    if (!canBeId(query.id)) return null
    const { fields: allFields } = this.#definition.contract
    return this.#sql.position({ ...query, allFields, sort: this.#sortTerms(sort) }, signal)
  }

  summary({ fields, ...query }: SummaryQuery, signal?: AbortSignal): Promise<JsonBytes> {
    const { fields: allFields } = this.#definition.contract
    return this.#sql.summary({ ...query, fields: this.#fields(fields), allFields }, signal)
  }

  failureGroups(failures: GroupedFailures, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#sql.failureGroups({ ...failures, allFields: this.#definition.contract.fields }, signal)
  }

  conditionText(condition: Condition): string {
    return conditionText(condition)
  }

  boundFilter(filter: string, params: readonly SqlParam[]): string {
    return boundFilter(sqlTokens(filter), params)
  }

  #sortTerms(sort: readonly SortKey[]): SortTerm[] {
    return sort.map(({ field: name, descending }) => {
      const field = knownField(this.#definition.contract, name)
      return { field, descending, indexed: hasSortIndex(field) }
    })
  }

  #fields(names: readonly string[]): Field[] {
    return knownFields(this.#definition.contract, names)
  }

  query(statement: SqlStatement, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#sql.query({ ...statement, allFields: this.#definition.contract.fields }, signal)
  }

  upsert(request: Upsert): Promise<UpsertResult> {
    const body = asMessage(request.body)
    return this.#writer.call('upsert', { ...request, body }, transferable(body))
  }

  tryUpsert(request: Upsert): Promise<UpsertTrial> {
    const body = asMessage(request.body)
    return this.#writer.call('tryUpsert', { ...request, body }, transferable(body))
  }

  delete(ids: readonly string[], actor: string, ifMatch: Upsert['ifMatch'] = null): Promise<DeleteResult> {
    return this.#writer.call('delete', { ids, actor, ifMatch })
  }

  async status(): Promise<StoreStatus> {
    return reading(() => this.#reader.status())
  }

  async provenance(recordId: string, field: string, limit: number): Promise<LatestEntries | null> {
    const log = reading(() => this.#reader.log(recordId, field))
    return log === null ? null : readingOn(runAsync(log.latest(limit)))
  }

  async provenanceBefore(
    recordId: string,
    field: string,
    seq: number,
  ): Promise<{ readonly entry: JsonObject | null } | null> {
    const log = reading(() => this.#reader.log(recordId, field))
    return log === null ? null : { entry: await readingOn(runAsync(log.latestBefore(seq))) }
  }

  async entries({ recordId, field, ...page }: EntriesQuery): Promise<FoundEntries | null> {
    if (field === null) {
      const logs = reading(() => this.#reader.logs(recordId))
      return logs === null ? null : readingOn(entriesOfCells(logs, page))
    }
    const log = reading(() => this.#reader.log(recordId, field))
    return log === null ? null : readingOn(runAsync(log.page(page)))
  }

  async computation(recordId: string, field: string, inputHash: string): Promise<JsonObject | null> {
    const log = reading(() => this.#reader.log(recordId, field))
    return log === null ? null : readingOn(runAsync(log.computation(inputHash)))
  }

  async cellFailure(record: RecordKey, target: string): Promise<CellFailureNote | null> {
    return reading(() => this.#reader.cellFailure(record, target))
  }

  async derivationVersions(file: string): Promise<readonly DerivationVersion[]> {
    return reading(() => this.#reader.derivationVersions(file))
  }

  async uncheckedTargets(): Promise<readonly UncheckedTarget[]> {
    return reading(() => this.#reader.connection.query(UNCHECKED_TARGETS))
  }

  markOutdated(outdated: OutdatedCells): Promise<void> {
    return this.#writer.call('markOutdated', outdated)
  }

  revert(request: RevertRequest): Promise<RevertResult> {
    return this.#writer.call('revert', request)
  }

  async deletedRecords(page: DeletedPage): Promise<readonly DeletedRef[]> {
    return reading(() => this.#reader.connection.query(deletedBefore(page)))
  }

  async deletions(refs: readonly DeletionRef[]): Promise<readonly (Deletion | null)[]> {
    const deletions: (Deletion | null)[] = []
    for (const ref of refs) deletions.push(await readingOn(this.#reader.deletion(ref)))
    return deletions
  }

  review(request: ReviewRequest): Promise<readonly number[]> {
    return this.#writer.call('review', request)
  }

  async reviews(query: ReviewsQuery): Promise<readonly StoredReview[]> {
    return reading(() => this.#reader.connection.query(reviewsBefore(query)))
  }

  async reviewCounts(): Promise<ReviewCounts> {
    return reading(() => this.#reader.connection.query(REVIEW_COUNTS))
  }

  async writerCounts(): Promise<WriterCounts> {
    const { connection } = this.#reader
    return reading(() => runSync(readWriterCounts((query) => connection.query(query))))
  }

  async cellWriters(records: ReadonlyMap<RecordKey, string>): Promise<readonly CellWriter[]> {
    const { connection } = this.#reader
    return reading(() => runSync(readCellWriters((query) => connection.query(query), records, givenRows)))
  }

  restore(request: RestoreRequest): Promise<RestoreResult> {
    return this.#writer.call('restore', request)
  }

  erase(request: EraseRequest): Promise<Erasure> {
    return this.#writer.call('erase', request)
  }

  startRun(run: NewRun): Promise<RunId> {
    return this.#writer.call('startRun', run)
  }

  async runLocked(id: RunId, begin: RunBegin): Promise<void> {
    const { total, manual } = begin
    const absent: string[] = []
    for (let start = 0; start < begin.absent.length; start += FAILURES_AT_ONCE) {
      if (start > 0) await nextTurn()
      absent.push(JSON.stringify(begin.absent.slice(start, start + FAILURES_AT_ONCE)))
    }
    await this.#writer.call('runLocked', { id, note: { total, manual, absent } })
  }

  async endRun(id: RunId, end: RunEnd): Promise<void> {
    await this.#writer.call('endRun', { id, note: end })
  }

  async noteCalls(id: RunId, progress: CellCommit['progress']): Promise<void> {
    await this.#writer.call('noteCalls', { id, note: progress })
  }

  async keepWaiting(id: RunId, silentMs: number): Promise<void> {
    await this.#writer.call('keepWaiting', { id, note: silentMs })
  }

  async requestCancel(id: RunId, actor: string): Promise<void> {
    await this.#writer.call('requestCancel', { id, note: actor })
  }

  async interruptRuns(except: RunId | null): Promise<void> {
    await this.#writer.call('interruptRuns', except)
  }

  async cancelRequest(id: RunId): Promise<string | null> {
    return reading(() => this.#reader.connection.query(cancelRequest(id)))
  }

  async prunableRuns(which: RunPruning): Promise<PrunableRuns> {
    return reading(() => this.#reader.connection.query(prunableRuns(which)))
  }

  pruneRuns(which: RunPruning): Promise<PruneStep> {
    return this.#writer.call('pruneRuns', which)
  }

  async run(id: RunId): Promise<StoredRun | null> {
    return reading(() => this.#reader.connection.query(runById(id)))
  }

  async runRecordIds(id: RunId): Promise<readonly string[] | null> {
    return reading(() => this.#reader.connection.query(runRecordIds(id)))
  }

  async runs(query: {
    readonly before: RunId | null
    readonly limit: number
  }): Promise<readonly StoredRun[]> {
    return reading(() => this.#reader.connection.query(runsBefore(query)))
  }

  async runFailures(query: RunFailuresQuery): Promise<readonly RunFailure[]> {
    return reading(() => this.#reader.connection.query(runFailures(query)))
  }

  async runEntryCount(run: RunId): Promise<number> {
    return reading(() => this.#reader.connection.query(runEntryCount(run)))
  }

  async runEntries(query: RunEntriesQuery): Promise<readonly RunEntry[]> {
    // Yields to other requests, since a caller may read page after page.
    await nextTurn()
    return reading(() => readRunEntries(this.#reader.connection, query))
  }

  history(): Promise<HistoryRange> {
    return readingOn(this.#reader.history())
  }

  async formerNames(): Promise<ReadonlyMap<string, string>> {
    return reading(() => this.#reader.formerNames())
  }

  logText(query: LogTextQuery): Promise<LogText | null> {
    return this.#reader.logText(query)
  }

  seqAt(time: string): Promise<number> {
    return this.#reader.seqAt(time)
  }

  now(): Promise<string> {
    return this.#reader.now()
  }

  recordAsOf(id: string, fields: readonly string[], seq: number): Promise<JsonBytes | null> {
    return this.#reader.recordAsOf(id, fields, seq)
  }

  pageAsOf(query: PageAsOfQuery): Promise<PastPage> {
    return this.#reader.pageAsOf(query)
  }

  countAsOf(seq: number): Promise<number> {
    return this.#reader.countAsOf(seq)
  }

  positionAsOf(id: string, seq: number): Promise<number | null> {
    return this.#reader.positionAsOf(id, seq)
  }

  entryHead(seq: number, place: 'upTo' | 'after'): Promise<EntryHead | null> {
    return this.#reader.entryHead(seq, place)
  }

  lockRun(timeoutMs: number, signal: AbortSignal): Promise<RunLock> {
    return takeRunLock(this.#lockPath, timeoutMs, signal)
  }

  async recordKeys(ids: readonly string[]): Promise<ReadonlyMap<string, RecordKey>> {
    const keys = new Map<string, RecordKey>()
    for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
      // Yields to other requests between the pieces of a long list.
      if (start > 0) await nextTurn()
      reading(() => this.#reader.recordKeys(ids.slice(start, start + IDS_AT_ONCE), keys))
    }
    return keys
  }

  async work(query: WorkQuery): Promise<readonly WorkItem[]> {
    return reading(() => this.#reader.work(query))
  }

  async cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>> {
    return reading(() => this.#reader.cached(hashes))
  }

  async usage(key: string): Promise<RecordedUsage | null> {
    return reading(() => this.#reader.usage(key))
  }

  commitCells(commit: CellCommit): Promise<readonly CellOutcome[]> {
    return this.#writer.call('commitCells', commitText(commit))
  }

  storeResults(results: CallResults): Promise<void> {
    return this.#writer.call('storeResults', results)
  }

  snapshot(directory: string): Promise<StoreSnapshot> {
    return takeSnapshot(this.#databasePath, directory)
  }

  async close(): Promise<void> {
    await Promise.all([this.#sql.close(), this.formulas.close(), this.queries.close()])
    await this.#reader.close()
    await this.#writer.close()
  }
}

/** Returns a definition as the writing thread takes it. */
function defineRequest({ contract, targets, changes, base }: StoreDefinition): DefineRequest {
  return { contractText: contract.text, targets, changes, ...(base !== undefined && { base }) }
}

/** Awaits the writing thread; throws its error that the definition has changed as OutdatedDefinitionError. */
async function orOutdated<T>(done: Promise<T>): Promise<T> {
  try {
    return await done
  } catch (error) {
    if (error instanceof ConflictError && error.code === 'definition_changed') {
      throw new OutdatedDefinitionError(error.message)
    }
    throw error
  }
}
