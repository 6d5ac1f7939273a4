import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import {
  formatLine,
  formatRecordLine,
  type CellLine,
  type RecordChange,
  type RevertLine,
  type ReviewLine,
  type Unnumbered,
} from '../../../provenance/log-line.ts'
import {
  ImportedRecords,
  isImportedRecord,
  linePartsOf,
  type ImportedRecord,
} from '../../../provenance/imported-records.ts'
import type { RecordKey } from '../../cell-work.ts'
import { CellStates } from './cell-states.ts'
import type { Connection } from '../database/connection.ts'
import type { PendingChanges, ProvenanceRow } from './pending-changes.ts'
import { StoredRecords } from './stored-records.ts'
import { forgetResults } from './forget-results.ts'
import { linesOfRecord } from './erased-lines.ts'
import { readKeptValues } from './kept-values.ts'
import { quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { StoredLog } from './change-log.ts'
import { UniqueHolders } from './unique-holders.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import type { DecidedRow, ProposedRow } from '../../rows/proposal-queries.ts'
import type { ErasingChange, StoredText } from '../../rules/log/erase.ts'
import { runAsync, type Steps } from '../../rules/steps.ts'
import { writtenByCell, writtenByRecord, type WrittenValues } from '../../rules/written/written-by.ts'
import type { CachedResult, Holders, NewRecord, StoreChange, StoredRecord } from '../../rules/store-change.ts'
import type { UniqueClaims } from '../../rules/unique-claims.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** The counters of a store at some point of a transaction. */
export interface SheetCounts {
  readonly lastSeq: number
  readonly records: number
  readonly lastKey: RecordKey
}

/** The state from which a change set starts. */
export interface ChangeStart {
  readonly db: Connection
  readonly contract: Contract
  /** The columns that keep values of removed and converted fields. */
  readonly kept: readonly KeptColumn[]
  /** Changes of earlier operations of the transaction. */
  readonly pending: PendingChanges
  readonly counts: SheetCounts
  /** Time of the change, UTC with milliseconds (D40), by the database's clock; never before that of the last entry. */
  readonly at: string
}

/**
 * The changes of one operation: record writes, cell states, provenance lines. All that must change together is part of one
 * change set. It is kept in memory, so that an operation that throws has changed nothing, and so that one statement writes
 * many records and many operations.
 */
export class ChangeSet implements ErasingChange {
  readonly db: Connection
  readonly contract: Contract
  readonly cells: CellStates
  readonly records: StoredRecords
  readonly log: StoredLog
  readonly at: string
  readonly #start: ChangeStart
  #lines: ProvenanceRow[] = []
  /** The line after {@link #lines} to which imported records are still added, and the values of these; null for none. */
  #open: {
    readonly seq: number
    readonly records: ImportedRecords
    readonly written: WrittenValues[]
  } | null = null
  #lastSeq: number
  #recordCount: number
  #lastKey: RecordKey

  constructor(start: ChangeStart) {
    const { db, contract, pending, counts, at } = start
    this.#start = start
    this.db = db
    this.contract = contract
    this.cells = new CellStates(pending.cells)
    this.records = new StoredRecords(pending.records)
    this.log = new StoredLog(db, contract)
    this.at = at
    this.#lastSeq = counts.lastSeq
    this.#recordCount = counts.records
    this.#lastKey = counts.lastKey
  }

  /** The seq of the next line. */
  get nextSeq(): number {
    return this.#lastSeq + 1
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Returns the counters from which the next change set of the transaction starts, once this one is kept. */
  counts(): SheetCounts {
    return { lastSeq: this.#lastSeq, records: this.#recordCount, lastKey: this.#lastKey }
  }

  /** Adds the provenance line of a computed cell; returns its seq. */
  logCell(line: Unnumbered<CellLine>, record: RecordKey): number {
    const seq = this.nextSeq
    // Rest properties lose the type of an open-ended line.
    const numbered = { seq, at: this.at, ...line } as CellLine
    return this.#add({
      record,
      text: formatLine(numbered),
      run: runNumber(line.run_id),
      written: [writtenByCell(numbered, record)],
    })
  }

  /** Adds the provenance line of a reverted cell; returns its seq. */
  logRevert(line: Unnumbered<RevertLine>, record: RecordKey): number {
    const text = formatLine({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record, text, run: runNumber(line.run_id), written: [writtenByCell(line, record)] })
  }

  /** Adds the provenance line of a review; returns its seq. */
  logReview(line: Unnumbered<ReviewLine>, record: RecordKey): number {
    const text = formatLine({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record, text, run: null, written: [] })
  }

  /** Adds the provenance line of a record's change, or the record to that of others; returns its seq. */
  logRecord(change: RecordChange, record: RecordKey): number {
    if (isImportedRecord(change)) return this.#logImported(change, record)
    const { start, end } = formatRecordLine({ seq: this.nextSeq, at: this.at }, change)
    const run = typeof change.run === 'string' ? runNumber(change.run) : null
    return this.#add({ record, text: start + end, run, written: [writtenByRecord(change, record)] })
  }

  #logImported(change: ImportedRecord, record: RecordKey): number {
    const written = writtenByRecord(change, record)
    if (this.#open?.records.add(change) === true) {
      this.#open.written.push(written)
      return this.#lastSeq
    }
    this.#closeLine()
    this.#lastSeq += 1
    const records = new ImportedRecords({ seq: this.#lastSeq, at: this.at }, change)
    records.add(change)
    this.#open = { seq: this.#lastSeq, records, written: [written] }
    return this.#lastSeq
  }

  /** Completes the line to which imported records were added. */
  #closeLine(): void {
    if (this.#open === null) return
    const { seq, records, written } = this.#open
    this.#open = null
    const { start, end } = linePartsOf(records.text())
    this.#lines.push({ seq, record: null, text: start + end, run: runNumber(records.run), written })
  }

  #add(line: Omit<ProvenanceRow, 'seq'>): number {
    this.#closeLine()
    this.#lastSeq += 1
    this.#lines.push({ seq: this.#lastSeq, ...line })
    return this.#lastSeq
  }

  async linesOf(recordId: string, lives: readonly RecordKey[]): Promise<readonly StoredText[]> {
    await this.flush()
    return linesOfRecord(this.db, recordId, lives)
  }

  async replaceLine({ seq, text }: StoredText): Promise<void> {
    await this.db.run('UPDATE "$provenance" SET line = $1 WHERE seq = $2', text, seq)
  }

  async emptyKept(record: RecordKey, columns: ReadonlySet<string>): Promise<boolean> {
    const kept = columnsOf(this.#start.kept.filter(({ name }) => columns.has(name)))
    if (kept.length === 0) return false
    await this.flush()
    const set = kept.map((column) => `${quoted(column)} = NULL`).join(', ')
    const filled = kept.map((column) => `${quoted(column)} IS NOT NULL`).join(' OR ')
    const sql = `UPDATE "$data" SET ${set} WHERE "$seq" = $1 AND (${filled})`
    return (await this.db.run(sql, record)) > 0
  }

  async load(ids: readonly string[]): Promise<void> {
    await this.records.load(ids)
    const keys = ids.map((id) => this.records.get(id)?.key).filter((key) => key !== undefined)
    await this.cells.load(keys)
  }

  newKey(): RecordKey {
    return this.#lastKey + 1
  }

  insert(record: NewRecord): void {
    const { key, seq } = record
    this.records.insert(record)
    this.cells.created(key, (field) => record.written(field), seq)
    this.#lastKey = key
    this.#recordCount += 1
  }

  keptValues(keys: readonly RecordKey[]): Promise<ReadonlyMap<RecordKey, JsonObject>> {
    return readKeptValues(this.db, this.#start.kept, keys)
  }

  /** Deletes a record; the states of its cells are deleted in cascade. */
  delete(record: StoredRecord, seq: number): void {
    this.records.delete(record, seq)
    this.#recordCount -= 1
  }

  /** Returns the number of records after this change set. */
  totalRecords(): number {
    return this.#recordCount
  }

  /** Carries out steps in a separate change set, without the changes of this one since it was last kept. */
  tryOut<T>(steps: (trial: StoreChange) => Steps<T>): Promise<T> {
    return runAsync(steps(new ChangeSet({ ...this.#start, counts: this.counts() })))
  }

  async together<T>(steps: readonly Steps<T>[]): Promise<T[]> {
    // All settle before anything is thrown, so that no statement of theirs runs on after that.
    const outcomes = await Promise.allSettled(steps.map(runAsync))
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    })
  }

  async holders(claims: UniqueClaims): Promise<Holders> {
    await this.#start.pending.flush()
    const holders = new Map<Field, UniqueHolders>()
    for (const [field, values] of claims.values())
      holders.set(field, await UniqueHolders.read(this.db, field, values))
    return (field, value) => (holders.get(field)?.of(value) ?? []).map(({ id }) => id)
  }

  forgetResults(results: readonly CachedResult[]): Promise<void> {
    return forgetResults(this.db, results)
  }

  async insertProposed(proposal: number, records: readonly ProposedRow[]): Promise<void> {
    await this.db.run(
      `INSERT INTO "$proposal_record" (proposal, number, record_id, record, version, was, change)
       SELECT $1, place - 1, record_id, record, version, was, change
       FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
         WITH ORDINALITY AS proposed(record_id, record, version, was, change, place)`,
      proposal,
      records.map(({ recordId }) => recordId),
      records.map(({ key }) => key),
      records.map(({ version }) => version),
      records.map(({ was }) => was),
      records.map(({ change }) => change),
    )
  }

  async decideProposed(proposal: number, records: readonly DecidedRow[]): Promise<void> {
    await this.db.run(
      `UPDATE "$proposal_record" AS proposed
       SET decided = made.decided, record = made.record, version = made.version
       FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[]) AS made(number, decided, record, version)
       WHERE proposed.proposal = $1 AND proposed.number = made.number`,
      proposal,
      records.map(({ number }) => number),
      records.map(({ decided }) => decided),
      records.map(({ key }) => key),
      records.map(({ version }) => version),
    )
  }

  pause(): Promise<void> {
    return nextTurn()
  }

  /** Passes the changes so far on to the transaction. */
  keep(): void {
    this.cells.keep((key, name) => this.#value(key, name))
    this.records.keep()
    this.#closeLine()
    this.#start.pending.addLines(this.#lines)
    this.#lines = []
  }

  /** Returns the value of a field of a record; null for a record that does not exist. */
  #value(key: RecordKey, name: string): JsonValue {
    const field = this.contract.fieldByName.get(name)
    return field === undefined ? null : (this.records.byKey(key)?.value(field) ?? null)
  }

  /** Writes the changes so far into the tables, except counters. */
  async flush(): Promise<void> {
    this.keep()
    await this.#start.pending.flush()
  }
}
