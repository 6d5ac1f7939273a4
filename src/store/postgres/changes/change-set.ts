import type { Contract } from '../../../contract/contract.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import {
  formatLine,
  formatRecordLine,
  type CellLine,
  type RecordChange,
  type RevertLine,
  type Unnumbered,
} from '../../../provenance/log-line.ts'
import type { RecordKey } from '../../cell-work.ts'
import { CellStates } from './cell-states.ts'
import type { Connection } from '../database/connection.ts'
import type { PendingChanges, ProvenanceRow } from './pending-changes.ts'
import type { NewRecord, StoredRecord } from './stored-record.ts'
import { StoredRecords } from './stored-records.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** What is numbered and counted in a store, up to some point of a transaction. */
export interface SheetCounts {
  readonly lastSeq: number
  readonly records: number
  readonly lastKey: RecordKey
}

/** What a change set starts from. */
export interface ChangeStart {
  /** The transaction. */
  readonly db: Connection
  readonly contract: Contract
  /** What the transaction's operations before this one have changed. */
  readonly pending: PendingChanges
  readonly counts: SheetCounts
  /** Time of the change, UTC with milliseconds (D40), by the database's clock; never before that of the last entry. */
  readonly at: string
}

/**
 * What one operation is making: record writes, cell states, provenance lines. Everything that must change together goes
 * through one of these. It is kept in memory, so that an operation that stops half-way has changed nothing, and that there
 * is a statement for many records, and for many operations, and not one for each.
 */
export class ChangeSet {
  readonly db: Connection
  readonly contract: Contract
  readonly cells: CellStates
  readonly records: StoredRecords
  readonly at: string
  readonly #start: ChangeStart
  #lines: ProvenanceRow[] = []
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
    this.at = at
    this.#lastSeq = counts.lastSeq
    this.#recordCount = counts.records
    this.#lastKey = counts.lastKey
  }

  /** The seq that the next line will get. */
  get nextSeq(): number {
    return this.#lastSeq + 1
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /** What the next change set of the transaction starts from, once this one is kept. */
  counts(): SheetCounts {
    return { lastSeq: this.#lastSeq, records: this.#recordCount, lastKey: this.#lastKey }
  }

  /** Adds the provenance line of a computed cell; answers with its seq. */
  logCell(line: Unnumbered<CellLine>, record: RecordKey): number {
    const seq = this.nextSeq
    // Rest properties lose what TypeScript knows of an open-ended line.
    const numbered = { seq, at: this.at, ...line } as CellLine
    return this.#add({ record, text: formatLine(numbered), run: runNumber(line.run_id) })
  }

  /** Adds the provenance line of a cell that is put back; answers with its seq. */
  logRevert(line: Unnumbered<RevertLine>, record: RecordKey): number {
    const text = formatLine({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record, text, run: runNumber(line.run_id) })
  }

  /** Adds the provenance line of a record's change; answers with its seq. */
  logRecord(change: RecordChange, record: RecordKey): number {
    const { start, end } = formatRecordLine({ seq: this.nextSeq, at: this.at }, change)
    return this.#add({ record, text: start + end, run: null })
  }

  #add(line: Omit<ProvenanceRow, 'seq'>): number {
    this.#lastSeq += 1
    this.#lines.push({ seq: this.#lastSeq, ...line })
    return this.#lastSeq
  }

  /** The key of a record that is about to be inserted, which no record has had before. */
  newKey(): RecordKey {
    return this.#lastKey + 1
  }

  /** Creates a record, whose key is that of {@link newKey}. */
  insert(record: NewRecord): void {
    this.records.insert(record)
    this.#lastKey = record.key
    this.#recordCount += 1
  }

  /** Deletes a record; its cells are the caller's to see to. */
  delete(record: StoredRecord): void {
    this.records.delete(record)
    this.#recordCount -= 1
  }

  /** The number of records, as this change set leaves it. */
  totalRecords(): number {
    return this.#recordCount
  }

  /**
   * Runs an operation in a change set of its own, to see what it comes to; nothing of it is kept. It does not see what this
   * change set has changed since it was kept.
   */
  async tryOut<T>(operation: (trial: ChangeSet) => Promise<T>): Promise<T> {
    return operation(new ChangeSet({ ...this.#start, counts: this.counts() }))
  }

  /** Has the transaction go on from what was changed so far. */
  keep(): void {
    this.cells.keep((key, name) => this.#value(key, name))
    this.records.keep()
    this.#start.pending.addLines(this.#lines)
    this.#lines = []
  }

  /** The value of a record for a field; null for a record that is not there. */
  #value(key: RecordKey, name: string): JsonValue {
    const field = this.contract.fieldByName.get(name)
    return field === undefined ? null : (this.records.byKey(key)?.value(field) ?? null)
  }

  /** Writes into the tables what operations before this one have changed, for who looks for something in all records. */
  flushEarlier(): Promise<void> {
    return this.#start.pending.flush()
  }

  /** Writes into the tables what was changed so far, but for counters. */
  async flush(): Promise<void> {
    this.keep()
    await this.#start.pending.flush()
  }
}
