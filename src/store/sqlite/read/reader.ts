import { fieldsChanged } from '../../revision-store.ts'
import { FieldLineages } from '../../fields/field-lineage.ts'
import { knownField, knownFields } from '../../fields/known-field.ts'
import type { RequestedField } from '../../fields/past-fields.ts'
import { changedNames, FIELD_CHANGES, LAST_FIELD_CHANGE } from '../../fields/stored-changes.ts'
import type { Contract } from '../../../contract/contract.ts'
import type { CacheEntry, RecordedUsage, RecordKey, WorkItem, WorkQuery } from '../../cell-work.ts'
import type {
  CellFailureNote,
  Deletion,
  DeletionRef,
  HistoryRange,
  DerivationVersion,
  JsonBytes,
  LogText,
  LogTextQuery,
  Page,
  EntryHead,
  PageAsOfQuery,
  PagePlace,
  PageQuery,
  PastPage,
  StoreStatus,
  VersionedRecord,
} from '../../sheet-store.ts'
import { readCache } from '../../rows/read-cache.ts'
import type { CellLog } from '../../rules/cell-log.ts'
import { keyAtPosition } from '../../rows/deleted-blocks.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import { readCellFailure, readDerivationVersions } from './cell-reader.ts'
import { Connection } from '../database/connection.ts'
import { historyRange } from '../log/history-reader.ts'
import { LogReader } from '../log/log-reader.ts'
import { readDeletionInTurns } from '../log/read-deletion.ts'
import { wholeLine } from '../../../provenance/log-line.ts'
import type { LeafHashes } from '../../log-tree-store.ts'
import { readFewLeaves } from '../log/read-leaves.ts'
import { ReadingClient } from '../log/reading-client.ts'
import { recordJsonExpression } from '../sql/json-columns.ts'
import type { PageRun } from '../sql/run-page.ts'
import { LONG_BYTES } from '../log/stored-line.ts'
import { IdleTimer } from '../database/idle-timer.ts'
import { canBeId, jsonBytes } from '../database/values.ts'
import { freeMemory, heapSize } from '../../sheet-files/free-memory.ts'
import { quickSearch, QUICK_RECORDS, searchKey, storedBytes, type SheetSize } from './quick-search.ts'
import { WorkReader } from './work-reader.ts'
import { readUsage } from '../../rules/add-usage.ts'
import { hashBytes, readCacheEntry, storedStatus } from '../../rows/stored-rows.ts'

/** The most bytes of responses that are cached until the next write. */
const CACHE_BYTES = 16 << 20

/** Milliseconds without a search in this thread after which what searches have left in memory is released. */
const RELEASE_IDLE_MS = 5000

/** The result of a read that would take too long on the calling thread. */
export const TOO_LARGE: unique symbol = Symbol('too large')

/** Number of records that are read without checking their size first. */
const FEW_RECORDS = 100

/** The most bytes of values that a page may skip to reach its first record: a few milliseconds. */
const WALKED_BYTES = 64 << 20

/** Finds the start of a page at a position, at a cost that does not depend on the number of deleted records. */
const KEY_AT_POSITION = keyAtPosition('?1', '?2')

/** A page in creation order without a filter. */
type PlainPage = Omit<PageQuery, 'filter' | 'sort'>

/** A response of a read; `version` is that of a record, `next` the place after which the next page starts. */
interface CachedRead extends VersionedRecord {
  readonly next: PagePlace | null
}

interface ReadStatements {
  /** The key of the fields in the cache. */
  readonly name: string
  readonly record: string
  readonly page: string
}

/**
 * All reads of the store except SQL from users, on a separate connection in the calling thread. What another connection can
 * change is cached only as long as SQLite reports no change.
 */
export class Reader {
  readonly #db: Connection
  readonly #work: WorkReader
  readonly #long: ReadingClient
  readonly #cache = readCache<CachedRead>(CACHE_BYTES)
  readonly #heap = heapSize()
  readonly #release = new IdleTimer(RELEASE_IDLE_MS, () => freeMemory(this.#heap))
  #selections = new WeakMap<readonly string[], ReadStatements>()
  #contract: Contract
  #bytesOfRecords: string | null = null
  /** The size of the present state; null until it is read. */
  #size: SheetSize | null = null
  /** Whether {@link #dataVersion} was read since the event loop last called a function. */
  #hasAsked = false
  #dataVersion = -1
  /** The last change of fields when the contract was given. */
  #fieldsSeq: number

  constructor(path: string, contract: Contract) {
    this.#db = Connection.forReading(path)
    this.#work = new WorkReader(this.#db)
    this.#long = new ReadingClient(path)
    this.#contract = contract
    this.#fieldsSeq = this.#db.query(LAST_FIELD_CHANGE)
  }

  /** The connection, for readers in other files. */
  get connection(): Connection {
    return this.#db
  }

  use(contract: Contract): void {
    this.#contract = contract
    this.#fieldsSeq = this.#db.query(LAST_FIELD_CHANGE)
    const stored = this.#fieldsSeq === 0 ? null : this.#db.get('SELECT contract FROM "$sheet"')?.['contract']
    // Another process has changed it since.
    if (stored !== null && stored !== contract.text) this.#fieldsSeq = -1
    this.#cache.clear()
    this.#selections = new WeakMap()
    this.#bytesOfRecords = null
    this.#size = null
  }

  async close(): Promise<void> {
    this.#release.cancel()
    this.#db.close()
    await this.#long.close()
  }

  /** Returns a record, null when there is none; {@link TOO_LARGE} for one that takes more than a page may. */
  record(id: string, fields: readonly string[]): VersionedRecord | null | typeof TOO_LARGE {
    if (!canBeId(id)) return null
    const { name, record } = this.#statements(fields)
    const key = `record ${name} ${id}`
    const known = this.#known(key, fields)
    if (known !== undefined) return known
    const row = this.#db.within(PAGE_BYTES, () => this.#db.get(record, id))
    if (row === null) return TOO_LARGE
    if (row === undefined) return null
    return this.#keep(key, { json: jsonBytes(row['$json']), version: String(row['$version']), next: null })
  }

  /** Returns a page in creation order; {@link TOO_LARGE} where its records take more than a page may. */
  page({ fields, limit, after, skip }: PlainPage): Page | typeof TOO_LARGE {
    const { name, page } = this.#statements(fields)
    const from = this.startOf({ after, skip })
    const key = `page ${name} ${limit} ${from}`
    const known = this.#known(key, fields)
    if (known !== undefined) return { records: known.json, next: known.next }
    if (limit > FEW_RECORDS && this.#storedBytes(from, limit) > WALKED_BYTES) return TOO_LARGE
    const row = this.#db.within(PAGE_BYTES, () => this.#db.get(page, from, limit))
    if (row === null) return TOO_LARGE
    const next = row?.['$more'] === 1 ? { key: Number(row['$last']), values: [] } : null
    const { json: records } = this.#keep(key, { json: jsonBytes(row?.['$json']), version: '', next })
    return { records, next }
  }

  /**
   * Returns a page of a sorted list, or of one with a condition that is data; from `elsewhere` where finding it could take long. The same list
   * is found once until the next write.
   */
  async search(run: PageRun, elsewhere: () => Promise<Page>): Promise<Page> {
    const { key, fields } = searchKey(run)
    const known = this.#known(key, fields)
    if (known !== undefined) return { records: known.json, next: known.next }
    const version = this.#dataVersion
    this.#size ??= this.#readSize()
    const quick = quickSearch(this.#db, run, { size: this.#size, contract: this.#contract })
    if (quick !== null) this.#release.restart()
    const page = quick ?? (await elsewhere())
    // A page of another state than that of the cache is not kept.
    if (this.#readDataVersion() === version)
      this.#keep(key, { json: page.records, version: '', next: page.next })
    return page
  }

  #readSize(): SheetSize {
    const records = Number(this.#db.get('SELECT records FROM "$sheet"')?.['records'])
    return { records, bytes: records > QUICK_RECORDS ? Infinity : this.#storedBytes(0, QUICK_RECORDS) }
  }

  /** Returns the key after which a page starts. */
  startOf({ after, skip }: Pick<PlainPage, 'after' | 'skip'>): RecordKey {
    const from = after?.key ?? 0
    return skip === 0 ? from : Number(this.#db.get(KEY_AT_POSITION, from, skip)?.['key'])
  }

  /**
   * Returns the bytes of these records in the store, whichever of their fields are requested. Reads only the length of each
   * value.
   */
  #storedBytes(from: RecordKey, limit: number): number {
    this.#bytesOfRecords ??= `SELECT sum("$bytes") AS "$bytes" FROM (
      SELECT ${storedBytes(this.#contract.fields.map(({ name }) => name))} AS "$bytes"
      FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?)`
    return Number(this.#db.get(this.#bytesOfRecords, from, limit)?.['$bytes'])
  }

  /** Returns the key and the version of a record; null when there is none. */
  placeOf(id: string): { readonly key: RecordKey; readonly version: string } | null {
    const row = this.#db.get('SELECT "$seq", "$version" FROM "$data" WHERE id = ?', id)
    return row === undefined ? null : { key: Number(row['$seq']), version: String(row['$version']) }
  }

  /**
   * Returns the statements for these fields, made once for a list of fields. They return bytes, since text would be
   * converted to a string and back. Their aliases contain `$`: SQLite would take others for fields of that name.
   */
  #statements(fields: readonly string[]): ReadStatements {
    let statements = this.#selections.get(fields)
    if (statements === undefined) {
      const json = recordJsonExpression(knownFields(this.#contract, fields))
      statements = {
        name: fields.join(),
        record: `SELECT CAST(${json} AS BLOB) AS "$json", "$version" FROM "$data" WHERE id = ?`,
        page: `SELECT "$json", "$last", EXISTS (SELECT 1 FROM "$data" WHERE "$seq" > "$last") AS "$more" FROM (
          SELECT CAST('[' || ifnull(group_concat("$record"), '') || ']' AS BLOB) AS "$json", max("$seq") AS "$last" FROM (
            SELECT "$seq", ${json} AS "$record" FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?))`,
      }
      this.#selections.set(fields, statements)
    }
    return statements
  }

  status(): StoreStatus {
    return this.#inOneState(() => this.#readStatus())
  }

  #readStatus(): StoreStatus {
    const sheet = this.#db.get('SELECT records, last_record FROM "$sheet"')
    return storedStatus(
      {
        total: Number(sheet?.['records']),
        lastKey: Number(sheet?.['last_record']),
        lastSeq: Number(this.#db.get('SELECT max(seq) AS seq FROM "$provenance"')?.['seq'] ?? 0),
      },
      this.#db.all('SELECT * FROM "$target" WHERE active = 1 ORDER BY id'),
    )
  }

  /** Returns a deletion of the log; null for none. */
  deletion(ref: DeletionRef): Promise<Deletion | null> {
    return readDeletionInTurns({ db: this.#db, long: this.#long, contract: this.#contract }, ref)
  }

  /** Returns the log of a cell; null for a record that never existed. */
  log(recordId: string, field: string): CellLog | null {
    this.#forgetOutdated([field])
    return LogReader.cell(
      { db: this.#db, long: this.#long },
      { recordId, field: knownField(this.#contract, field) },
    )
  }

  /** Returns the logs of all cells of a record; null for a record that never existed. */
  logs(recordId: string): readonly CellLog[] | null {
    const { fields } = this.#contract
    this.#forgetOutdated(fields.map(({ name }) => name))
    return LogReader.cells({ db: this.#db, long: this.#long }, { recordId, fields })
  }

  async history(): Promise<HistoryRange> {
    return historyRange(this.#db, LONG_BYTES) ?? this.#long.call('history', null)
  }

  /** Returns the leaves of lines; see {@link LogTreeStore.leaves}. */
  async leaves(after: number, limit: number): Promise<LeafHashes> {
    return readFewLeaves(this.#db, after, limit) ?? this.#long.call('leaves', { after, limit })
  }

  /** Returns the text of a line of the log; null for none. */
  async line(seq: number): Promise<string | null> {
    const stored = await this.#long.call('line', { seq, containing: null })
    return stored === null ? null : wholeLine(Buffer.from(stored).toString())
  }

  now(): Promise<string> {
    return this.#long.call('now', null)
  }

  seqAt(time: string): Promise<number> {
    return this.#long.call('seqAt', time)
  }

  logText(query: LogTextQuery): Promise<LogText | null> {
    return this.#long.call('logText', query)
  }

  async recordAsOf(id: string, fields: readonly string[], seq: number): Promise<JsonBytes | null> {
    if (!canBeId(id)) return null
    this.#forgetOutdated(fields)
    const json = await this.#long.call('recordAsOf', { id, fields: this.#pastFields(fields), seq })
    return json === null ? null : jsonBytes(json)
  }

  async pageAsOf({ fields, ...query }: PageAsOfQuery): Promise<PastPage> {
    this.#forgetOutdated(fields)
    const page = await this.#long.call('pageAsOf', { ...query, fields: this.#pastFields(fields) })
    return { ...page, records: jsonBytes(page.records) }
  }

  countAsOf(seq: number): Promise<number> {
    return this.#long.call('countAsOf', seq)
  }

  async positionAsOf(id: string, seq: number): Promise<number | null> {
    return canBeId(id) ? this.#long.call('positionAsOf', { id, seq }) : null
  }

  entryHead(seq: number, place: 'upTo' | 'after'): Promise<EntryHead | null> {
    return this.#long.call('entryHead', { seq, place })
  }

  /** Returns the present names of fields by those that they had before. */
  formerNames(): ReadonlyMap<string, string> {
    return new FieldLineages(this.#db.query(FIELD_CHANGES)).former()
  }

  /** Returns fields, which may have names from before. */
  #pastFields(names: readonly string[]): RequestedField[] {
    const isKnown = names.every((name) => this.#contract.fieldByName.has(name))
    const former = isKnown ? null : this.formerNames()
    return names.map((name) => {
      const present = this.#contract.fieldByName.has(name) ? name : (former?.get(name) ?? name)
      return { name, type: knownField(this.#contract, present).type, ...(present !== name && { present }) }
    })
  }

  /** Reads with several statements in one state of the store. */
  #inOneState<T>(read: () => T): T {
    this.#db.exec('BEGIN')
    try {
      return read()
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  /** Adds the keys of the existing records with these ids. */
  recordKeys(ids: readonly string[], keys: Map<string, RecordKey>): void {
    for (const id of ids) {
      const row = canBeId(id) ? this.#db.get('SELECT "$seq" AS key FROM "$data" WHERE id = ?', id) : undefined
      if (row !== undefined) keys.set(id, Number(row['key']))
    }
  }

  work(query: WorkQuery): WorkItem[] {
    return this.#inOneState(() => {
      if (this.#areFieldsChanged()) this.#checkFields([...query.inputs, ...query.targets])
      return this.#work.read(query, this.#contract)
    })
  }

  cached(hashes: readonly string[]): ReadonlyMap<string, CacheEntry> {
    const entries = new Map<string, CacheEntry>()
    for (const inputHash of hashes) {
      const row = this.#db.get('SELECT entry FROM "$cache" WHERE hash = ?', hashBytes(inputHash))
      if (row !== undefined) entries.set(inputHash, readCacheEntry(inputHash, row['entry']))
    }
    return entries
  }

  usage(key: string): RecordedUsage | null {
    return readUsage(this.#db.get('SELECT usage FROM "$usage" WHERE key = ?', key)?.['usage'])
  }

  cellFailure(record: RecordKey, target: string): CellFailureNote | null {
    return readCellFailure(this.#db, record, target)
  }

  derivationVersions(file: string): DerivationVersion[] {
    return readDerivationVersions(this.#db, file)
  }

  #known(key: string, fields: readonly string[]): CachedRead | undefined {
    this.#forgetOutdated(fields)
    return this.#cache.get(key)
  }

  /**
   * Checks for writes once for all reads of one turn of the event loop: no response to a write was sent between them. Throws
   * OutdatedDefinitionError when fields were renamed, removed or converted since {@link use}: names may be those of others.
   */
  #forgetOutdated(fields: readonly string[]): void {
    if (this.#hasAsked) return
    const version = this.#readDataVersion()
    if (version !== this.#dataVersion) {
      this.#cache.clear()
      this.#size = null
      // Until the next contract, each read has to be checked.
      if (this.#areFieldsChanged()) return this.#checkFields(fields)
      this.#dataVersion = version
    }
    this.#hasAsked = true
    process.nextTick(() => (this.#hasAsked = false))
  }

  /** Returns a number that changes with each commit of another connection. */
  #readDataVersion(): number {
    return Number(this.#db.get('PRAGMA data_version')?.['data_version'])
  }

  /** Throws OutdatedDefinitionError when one of these fields was renamed, removed or converted since {@link use}. */
  #checkFields(fields: readonly string[]): void {
    const changes = this.#db.query(FIELD_CHANGES).filter(({ seq }) => seq > this.#fieldsSeq)
    const names = new Set(changes.flatMap(changedNames))
    if (this.#fieldsSeq >= 0 && !fields.some((name) => names.has(name))) return
    throw fieldsChanged()
  }

  #areFieldsChanged(): boolean {
    return this.#db.query(LAST_FIELD_CHANGE) !== this.#fieldsSeq
  }

  #keep(key: string, read: CachedRead): CachedRead {
    this.#cache.set(key, read)
    return read
  }
}
