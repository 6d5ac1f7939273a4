import { deletedBefore } from '../rows/deleted-records.ts'
import type { Field } from '../../contract/contract.ts'
import { parseStoredContract } from '../../contract/odcs/parse-contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { RecordsError } from '../../errors/service-error.ts'
import { sourceDiffers, sourcePaths } from '../sheet-files/import-lines.ts'
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
import { changeById, changesBefore, STORED_CONTRACT } from '../rows/definition-changes.ts'
import { OnlyTried } from '../rules/carry-out-change.ts'
import { checkFormulas } from './formula/check-formulas.ts'
import type {
  CellFailureNote,
  GroupedFailures,
  ChangesQuery,
  DefinitionChange,
  EntriesQuery,
  DeleteResult,
  DeletedPage,
  DeletedRef,
  Deletion,
  DeletionRef,
  DerivationVersion,
  RunEntry,
  HistoryRange,
  JsonBytes,
  LogText,
  LogTextQuery,
  Page,
  EntryHead,
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
import { readCacheEntries } from './changes/cache-entries.ts'
import { readCellFailure, readDerivationVersions } from './read/cell-reader.ts'
import type { ChangeSet } from './changes/change-set.ts'
import { commitCells, readUsageOf, storeResults } from './write/commit-cells.ts'
import { readEntryTime } from './database/database-clock.ts'
import { Database } from './database/database.ts'
import { deleteRecords } from '../rules/delete-records.ts'
import { markOutdated } from '../rules/mark-outdated.ts'
import { UNCHECKED_TARGETS } from '../rows/stored-targets.ts'
import { sortIndexOf } from './database/field-indexes.ts'
import { followIndexes } from './database/follow-indexes.ts'
import { PostgresFormulas } from './formula/postgres-formulas.ts'
import { PostgresQueries } from './formula/postgres-queries.ts'
import { FrameFeed } from './frames/frame-feed.ts'
import { PostgresHosts } from './hosts/postgres-hosts.ts'
import { HistoryReader } from './log/history-reader.ts'
import { readLogText } from './log/log-text.ts'
import { openSheetTables } from './definition/open-sheet-tables.ts'
import { PostgresProposals } from './postgres-proposals.ts'
import { postgresLogTree } from './postgres-log-tree.ts'
import { PostgresNamed } from './postgres-named.ts'
import { CHARTS, VIEWS } from '../rules/named/named-kinds.ts'
import { PostgresResponses } from './postgres-responses.ts'
import { KEEP_JSON, LogQueries } from './log/log-queries.ts'
import { RecordReader } from './read/record-reader.ts'
import { takeRunLock, type HeldRunLock } from './database/run-lock.ts'
import { readRunEntries } from './read/run-entries.ts'
import { beginRun, endRun, interruptRuns, noteCalls, startRun } from './write/run-writer.ts'
import type { PresentRecords } from '../revision-store.ts'
import type { SharedFrames } from '../shared-frames.ts'
import type { QueryLimits } from '../query-limits.ts'
import { conditionText } from './sql/condition-sql.ts'
import type { SortTerm } from './sql/sort-sql.ts'
import { tryDefinition } from './definition/apply-definition.ts'
import type { Erasure, EraseRequest } from '../erasure.ts'
import { compact } from './write/compact.ts'
import type { FieldsEffect } from '../field-changes.ts'
import { FieldLineages } from '../fields/field-lineage.ts'
import { knownField, knownFields } from '../fields/known-field.ts'
import type { RequestedField } from '../fields/past-fields.ts'
import { FIELD_CHANGES } from '../fields/stored-changes.ts'
import { sqlTokens } from './sql/sql-lexer.ts'
import { SqlPool } from './sql/sql-pool.ts'
import { parseStoreUrl } from './database/store-url.ts'
import { takeSnapshot } from './snapshot/take-snapshot.ts'
import { TaskQueue } from './tasks/task-queue.ts'
import { prunableRuns, pruneRuns } from '../rules/prune-runs.ts'
import type { CellLog } from '../rules/cell-log.ts'
import { entriesOfCells } from '../rules/log/record-entries.ts'
import { runAsync, type Steps } from '../rules/steps.ts'
import {
  cancelRequest,
  runById,
  runEntryCount,
  runFailures,
  runRecordIds,
  runsBefore,
} from '../rows/run-queries.ts'
import { requestCancel } from '../rows/run-updates.ts'
import { readBodyInTurns } from '../rules/upsert-body.ts'
import { idsOf, isLarge, tryUpsert, upsert } from '../rules/upsert.ts'
import { deleteFrames } from './frames/frame-table.ts'
import { erase } from '../rules/log/erase.ts'
import { restore } from '../rules/restore.ts'
import { review } from '../rules/review.ts'
import { revert } from '../rules/revert.ts'
import { canBeId } from './database/values.ts'
import { keepWaiting } from './write/waiting-runs.ts'
import { readDeletions } from './log/read-deletions.ts'
import { PresentState } from './read/present-state.ts'
import { readWork } from './read/work-reader.ts'
import { Writer } from './write/writer.ts'

export interface PostgresStoreOptions {
  /** Null leaves an existing store with the definition that it follows. */
  readonly definition: StoreDefinition | null
  /** The sheet's directory, from whose files a new store is created (D2); null for none. */
  readonly directory: string | null
  /** The actor of an import of `records.jsonl`, should one be necessary. */
  readonly actor: string
  readonly lockTimeoutMs: number
  readonly queryLimits: QueryLimits
  /** The frames of the sheet, where they are open already; closing the store leaves them open. */
  readonly frames?: SharedFrames
  /** The state of the records, where requests ask for the newest revision first. */
  readonly present?: PresentRecords
  /** Called when this process has written lines of the log, with their number. */
  onLines?: (count: number) => void
  /** Called when `records.jsonl` is not the file that was imported (D2). */
  onSourceDiffers(): void
}

type OpenedStore = Pick<PostgresStoreOptions, 'queryLimits' | 'frames' | 'present'> & {
  readonly definition: StoreDefinition
  readonly cursorKey: Uint8Array
}

/** A sheet's store in one schema of a PostgreSQL database, which several processes can share. */
export class PostgresStore implements SheetStore {
  readonly dialect = 'postgres'
  readonly cursorKey: Uint8Array
  readonly proposals: PostgresProposals
  readonly views: NamedStore<ViewState>
  readonly charts: NamedStore<ChartState>
  readonly tree: LogTreeStore
  readonly responses: PostgresResponses
  readonly frames: SharedFrames
  readonly tasks: TaskQueue
  readonly hosts: PostgresHosts
  readonly formulas: PostgresFormulas
  readonly queries: PostgresQueries
  /** Null where `frames` were given. */
  readonly #ownFrames: FrameFeed | null
  readonly #database: Database
  readonly #writer: Writer
  readonly #records: RecordReader
  readonly #history: HistoryReader
  readonly #sql: SqlPool
  #definition: StoreDefinition
  /** Aborted when the store is being closed: indexes that are being created are then left to the next open. */
  readonly #closing = new AbortController()
  /** Settles when the indexes of changed definitions are there; null while none are being created. */
  #indexes: Promise<void> | null = null
  #indexFault: { readonly error: unknown } | null = null
  #runLock: HeldRunLock | null = null

  private constructor(
    database: Database,
    writer: Writer,
    { definition, queryLimits, cursorKey, frames, present }: OpenedStore,
  ) {
    this.cursorKey = cursorKey
    this.#database = database
    this.#writer = writer
    this.#definition = definition
    const contract = (): StoreDefinition['contract'] => this.#definition.contract
    this.#records = new RecordReader(database, contract, present ?? new PresentState(database))
    this.#history = new HistoryReader(database)
    this.#sql = new SqlPool({ database, limits: queryLimits })
    this.formulas = new PostgresFormulas(database, queryLimits)
    this.queries = new PostgresQueries(database, queryLimits)
    this.proposals = new PostgresProposals({ writer, db: database, records: this, contract })
    this.views = new PostgresNamed(VIEWS, { writer, db: database, contract })
    this.charts = new PostgresNamed(CHARTS, { writer, db: database, contract })
    this.tree = postgresLogTree(database, writer)
    this.responses = new PostgresResponses(writer, database)
    this.#ownFrames = frames === undefined ? new FrameFeed(database) : null
    this.frames = frames ?? (this.#ownFrames as FrameFeed)
    this.tasks = new TaskQueue(database, writer)
    this.hosts = new PostgresHosts(database)
  }

  /**
   * Opens the store at a URL ({@link parseStoreUrl}), or creates it from the files of the sheet's directory (D2). Throws
   * RecordsError for a database that cannot be used, and the errors of {@link SheetStore.define}.
   */
  static async open(url: string, options: PostgresStoreOptions): Promise<PostgresStore> {
    const { definition: given, directory, actor, lockTimeoutMs } = options
    const database = new Database(parseStoreUrl(url))
    try {
      const { schema } = database.location
      const sources = directory === null ? null : sourcePaths(directory)
      // A store with a revision has tables; if they are lost, none must be created.
      if (given !== null && given.revision === undefined) {
        const { contract, targets } = given
        const store = { schema, contract, targets: targets ?? [], actor, sources }
        await openSheetTables(database, store, lockTimeoutMs)
      }
      const writer = new Writer(database, {
        lockTimeoutMs,
        ...(options.onLines && { onLines: options.onLines }),
      })
      if (given !== null) await writer.define(given)
      const definition = given ?? {
        contract: parseStoredContract(await database.query(STORED_CONTRACT)),
        targets: null,
      }
      await followIndexes(database)
      const sheet = await database.get(
        'SELECT cursor_key, source_size AS size, source_mtime AS mtime, source_sha256 AS sha256 FROM "$sheet"',
      )
      const imported = sheet as unknown as Parameters<typeof sourceDiffers>[1]
      if (sources !== null && sourceDiffers(sources.source, imported)) options.onSourceDiffers()
      const cursorKey = sheet?.['cursor_key'] as Buffer
      return new PostgresStore(database, writer, { ...options, definition, cursorKey })
    } catch (error) {
      await database.close()
      throw error
    }
  }

  async define({ changes, ...definition }: StoreDefinition): Promise<FieldsEffect> {
    const effect = await this.#writer.define({ ...definition, changes })
    this.#use(definition)
    if (this.#indexes === null) await followIndexes(this.#database)
    else this.#followLater()
    return effect
  }

  /** Reads by a definition, right after its commit: columns have its names and types by then. */
  #use(definition: StoreDefinition): void {
    this.#definition = definition
    this.#records.refresh()
  }

  /** Creates indexes in the background, which takes long with many records. */
  #followLater(): void {
    const done = (this.#indexes ?? Promise.resolve())
      .then(() => followIndexes(this.#database, this.#closing.signal))
      .catch((error: unknown) => {
        this.#indexFault = { error }
      })
      .finally(() => {
        if (this.#indexes === done) this.#indexes = null
      })
    this.#indexes = done
  }

  tryDefine(definition: StoreDefinition): Promise<FieldsEffect> {
    return this.#database.reading((db) => tryDefinition(db, definition))
  }

  async changeDefinition(change: DefinitionChange): Promise<DefinitionEffect> {
    const { definition, formulas } = change
    await checkFormulas(this.#database, formulas)
    let effect: DefinitionEffect
    try {
      effect = await this.#writer.changeDefinition(change)
    } catch (error) {
      if (error instanceof OnlyTried) return error.effect
      throw error
    }
    this.#use(definition)
    // The service reads by the definition before until this returns.
    this.#followLater()
    return effect
  }

  contractText(): Promise<string> {
    return this.#database.query(STORED_CONTRACT)
  }

  definitionChanges(query: ChangesQuery): Promise<readonly StoredChange[]> {
    return this.#database.query(changesBefore(query))
  }

  definitionChange(id: string): Promise<ChangeTexts | null> {
    return this.#database.query(changeById(id))
  }

  record(id: string, fields: readonly string[]): Promise<VersionedRecord | null> {
    return this.#records.record(id, fields)
  }

  async page(query: PageQuery, signal?: AbortSignal): Promise<Page> {
    const { filter, where = null, sort } = query
    signal?.throwIfAborted()
    if (filter === null && where === null && sort.length === 0) return this.#records.page(query)
    const run = {
      ...query,
      fields: this.#fields(query.fields),
      allFields: this.#definition.contract.fields,
      sort: this.#sortTerms(sort),
    }
    return this.#sql.page(run, signal)
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
      const field = this.#field(name)
      return { field, descending, index: sortIndexOf(field) }
    })
  }

  query(statement: SqlStatement, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#sql.query({ ...statement, allFields: this.#definition.contract.fields }, signal)
  }

  #fields(names: readonly string[]): Field[] {
    return knownFields(this.#definition.contract, names)
  }

  #field(name: string): Field {
    return knownField(this.#definition.contract, name)
  }

  async upsert(request: Upsert): Promise<UpsertResult> {
    const read = readBodyInTurns(request)
    // No await for a short body: writes are made in the order of their requests.
    const body = read instanceof Promise ? await read : read
    const operation = (change: ChangeSet): Promise<UpsertResult> => runAsync(upsert(change, body, request))
    if (isLarge(body.records) || (request.run ?? null) !== null) return this.#writer.change(operation)
    return this.#writer.changeRecords(idsOf(body.records), operation)
  }

  async tryUpsert(request: Upsert): Promise<UpsertTrial> {
    const body = await readBodyInTurns(request)
    return this.#writer.changeRecords(idsOf(body.records), (change) => runAsync(tryUpsert(change, body)))
  }

  delete(ids: readonly string[], actor: string, ifMatch: Upsert['ifMatch'] = null): Promise<DeleteResult> {
    return this.#writer.changeRecords(ids, (change) =>
      runAsync(deleteRecords(change, { ids, actor, ifMatch })),
    )
  }

  status(): Promise<StoreStatus> {
    return this.#records.status()
  }

  provenance(recordId: string, field: string, limit: number): Promise<LatestEntries | null> {
    return this.#readLog(recordId, field, (log) => log.latest(limit))
  }

  provenanceBefore(
    recordId: string,
    field: string,
    seq: number,
  ): Promise<{ readonly entry: JsonObject | null } | null> {
    return this.#readLog(recordId, field, function* (log) {
      return { entry: yield* log.latestBefore(seq) }
    })
  }

  entries({ recordId, field, ...page }: EntriesQuery): Promise<FoundEntries | null> {
    if (field === null) {
      const { fields } = this.#definition.contract
      return this.#database.reading(async (db) => {
        const logs = await new LogQueries(db, KEEP_JSON).cells(recordId, fields)
        return logs === null ? null : entriesOfCells(logs, page)
      })
    }
    return this.#readLog(recordId, field, (log) => log.page(page))
  }

  computation(recordId: string, field: string, inputHash: string): Promise<JsonObject | null> {
    return this.#readLog(recordId, field, (log) => log.computation(inputHash))
  }

  cellFailure(record: RecordKey, target: string): Promise<CellFailureNote | null> {
    return readCellFailure(this.#database, record, target)
  }

  derivationVersions(file: string): Promise<readonly DerivationVersion[]> {
    return readDerivationVersions(this.#database, file)
  }

  uncheckedTargets(): Promise<readonly UncheckedTarget[]> {
    return this.#database.query(UNCHECKED_TARGETS)
  }

  markOutdated(outdated: OutdatedCells): Promise<void> {
    return this.#writer.change((change) => runAsync(markOutdated(change, outdated)))
  }

  revert(request: RevertRequest): Promise<RevertResult> {
    return this.#changeInRun((change) => runAsync(revert(change, request)), request.run)
  }

  deletedRecords(page: DeletedPage): Promise<readonly DeletedRef[]> {
    return this.#database.query(deletedBefore(page))
  }

  deletions(refs: readonly DeletionRef[]): Promise<readonly (Deletion | null)[]> {
    return this.#database.reading((db) => readDeletions({ db, contract: this.#definition.contract }, refs))
  }

  review(request: ReviewRequest): Promise<readonly number[]> {
    return this.#writer.change((change) => runAsync(review(change, request)))
  }

  reviews(query: ReviewsQuery): Promise<readonly StoredReview[]> {
    return this.#database.query(reviewsBefore(query))
  }

  reviewCounts(): Promise<ReviewCounts> {
    return this.#database.query(REVIEW_COUNTS)
  }

  writerCounts(): Promise<WriterCounts> {
    return this.#database.reading((db) => runAsync(readWriterCounts((query) => db.query(query))))
  }

  cellWriters(records: ReadonlyMap<RecordKey, string>): Promise<readonly CellWriter[]> {
    return this.#database.reading((db) =>
      runAsync(readCellWriters((query) => db.query(query), records, givenRows)),
    )
  }

  restore(request: RestoreRequest): Promise<RestoreResult> {
    return this.#changeInRun((change) => runAsync(restore(change, request)), request.run ?? null)
  }

  async erase(request: EraseRequest): Promise<Erasure> {
    try {
      const erased = await this.#writer.change(async (change) => {
        const erasure = await runAsync(erase(change, request))
        if (request.dryRun) throw new OnlyErasedOnTrial({ ...erasure, isCompacted: false })
        await deleteFrames(change.db)
        return erasure
      })
      return { ...erased, isCompacted: await compact(this.#database) }
    } catch (error) {
      if (error instanceof OnlyErasedOnTrial) return error.erasure
      throw error
    }
  }

  startRun(run: NewRun): Promise<RunId> {
    return this.#writer.change((change) => startRun(change, run))
  }

  keepWaiting(id: RunId, silentMs: number): Promise<void> {
    return keepWaiting(this.#database, id, silentMs)
  }

  runLocked(id: RunId, begin: RunBegin): Promise<void> {
    return this.#changeInRun((change) => beginRun(change, id, begin), id)
  }

  noteCalls(id: RunId, progress: CellCommit['progress']): Promise<void> {
    return this.#changeInRun((change) => noteCalls(change, id, progress), id)
  }

  endRun(id: RunId, end: RunEnd): Promise<void> {
    return this.#changeInRun((change) => endRun(change, id, end), id)
  }

  async requestCancel(id: RunId, actor: string): Promise<void> {
    await this.#writer.change(({ db }) => db.change(requestCancel(id, actor)))
  }

  interruptRuns(except: RunId | null): Promise<void> {
    return this.#writer.change((change) => interruptRuns(change, except))
  }

  cancelRequest(id: RunId): Promise<string | null> {
    return this.#database.query(cancelRequest(id))
  }

  prunableRuns(which: RunPruning): Promise<PrunableRuns> {
    return this.#database.query(prunableRuns(which))
  }

  pruneRuns(which: RunPruning): Promise<PruneStep> {
    return this.#writer.change(({ db }) => runAsync(pruneRuns(db, which)))
  }

  run(id: RunId): Promise<StoredRun | null> {
    return this.#database.query(runById(id))
  }

  runRecordIds(id: RunId): Promise<readonly string[] | null> {
    return this.#database.query(runRecordIds(id))
  }

  runs(query: { readonly before: RunId | null; readonly limit: number }): Promise<readonly StoredRun[]> {
    return this.#database.query(runsBefore(query))
  }

  runFailures(query: RunFailuresQuery): Promise<readonly RunFailure[]> {
    return this.#database.query(runFailures(query))
  }

  runEntryCount(run: RunId): Promise<number> {
    return this.#database.query(runEntryCount(run))
  }

  runEntries(query: RunEntriesQuery): Promise<readonly RunEntry[]> {
    return readRunEntries(this.#database, query)
  }

  history(): Promise<HistoryRange> {
    return this.#history.range()
  }

  logText(query: LogTextQuery): Promise<LogText | null> {
    return readLogText(this.#database, query)
  }

  seqAt(time: string): Promise<number> {
    return this.#history.seqAt(time)
  }

  now(): Promise<string> {
    return readEntryTime(this.#database)
  }

  async recordAsOf(id: string, fields: readonly string[], seq: number): Promise<JsonBytes | null> {
    return canBeId(id) ? this.#history.record(id, await this.#pastFields(fields), seq) : null
  }

  async pageAsOf({ fields, ...query }: PageAsOfQuery): Promise<PastPage> {
    return this.#history.page({ ...query, fields: await this.#pastFields(fields) })
  }

  countAsOf(seq: number): Promise<number> {
    return this.#history.count(seq)
  }

  async positionAsOf(id: string, seq: number): Promise<number | null> {
    return canBeId(id) ? this.#history.position(id, seq) : null
  }

  entryHead(seq: number, place: 'upTo' | 'after'): Promise<EntryHead | null> {
    return this.#history.head(seq, place)
  }

  async formerNames(): Promise<ReadonlyMap<string, string>> {
    return new FieldLineages(await this.#database.query(FIELD_CHANGES)).former()
  }

  /** Returns fields, which may have names from before. */
  async #pastFields(names: readonly string[]): Promise<RequestedField[]> {
    const { fieldByName } = this.#definition.contract
    const former = names.every((name) => fieldByName.has(name)) ? null : await this.formerNames()
    return names.map((name) => {
      const present = fieldByName.has(name) ? name : (former?.get(name) ?? name)
      return { name, type: this.#field(present).type, ...(present !== name && { present }) }
    })
  }

  async lockRun(timeoutMs: number, signal: AbortSignal): Promise<RunLock> {
    return (this.#runLock = await takeRunLock(this.#database, { timeoutMs, signal }))
  }

  /** Reads the log of a cell in one state of the store; null for a record that never existed. */
  #readLog<T>(recordId: string, field: string, read: (log: CellLog) => Steps<T>): Promise<T | null> {
    const known = this.#field(field)
    return this.#database.reading(async (db) => {
      const log = await new LogQueries(db, KEEP_JSON).cell(recordId, known)
      return log === null ? null : runAsync(read(log))
    })
  }

  /**
   * Changes something for a run; refuses when this process had the run lock and has lost it, since another run may be under
   * way.
   */
  #changeInRun<T>(operation: (change: ChangeSet) => Promise<T>, run: RunId | null): Promise<T> {
    const lock = run === null || this.#runLock?.released === true ? null : this.#runLock
    return this.#writer.change(async (change) => {
      if (lock !== null && (lock.lost || (await this.#tokenOf(change)) !== lock.token)) {
        throw new RecordsError(
          'the connection that held the run lock is lost, and what the run came to is not stored any more; start it again',
        )
      }
      return operation(change)
    })
  }

  async #tokenOf({ db }: ChangeSet): Promise<number> {
    return Number((await db.get('SELECT run_token FROM "$sheet"'))?.['run_token'])
  }

  recordKeys(ids: readonly string[]): Promise<ReadonlyMap<string, RecordKey>> {
    return this.#records.keys(ids)
  }

  work(query: WorkQuery): Promise<readonly WorkItem[]> {
    return this.#database.reading((db) => readWork(db, query, this.#definition.contract))
  }

  cached(hashes: readonly string[]): Promise<ReadonlyMap<string, CacheEntry>> {
    return readCacheEntries(this.#database, hashes)
  }

  usage(key: string): Promise<RecordedUsage | null> {
    return readUsageOf(this.#database, key)
  }

  commitCells(commit: CellCommit): Promise<readonly CellOutcome[]> {
    return this.#changeInRun((change) => commitCells(change, commit), commit.run)
  }

  storeResults(results: CallResults): Promise<void> {
    return this.#writer.change((change) => storeResults(change, results))
  }

  snapshot(directory: string): Promise<StoreSnapshot> {
    return takeSnapshot(this.#database.location, directory)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#indexes
    await this.#closeConnections()
    if (this.#indexFault !== null) throw this.#indexFault.error
  }

  async #closeConnections(): Promise<void> {
    await Promise.all([this.#ownFrames?.close(), this.hosts.close(), this.tasks.close()])
    await this.#writer.close()
    this.#runLock?.release()
    await Promise.all([this.#sql.close(), this.formulas.close(), this.queries.close()])
    await this.#database.close()
  }
}

/** Rolls an erasure back that was tried out. */
class OnlyErasedOnTrial extends Error {
  readonly erasure: Erasure

  constructor(erasure: Erasure) {
    super('values were erased on trial')
    this.erasure = erasure
  }
}
