import type { SQLInputValue } from 'node:sqlite'
import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import {
  ImportedRecords,
  isImportedRecord,
  linePartsOf,
  partsOf,
  type ImportedRecord,
  type ImportedRecordsText,
} from '../../../provenance/imported-records.ts'
import {
  formatCellLine,
  formatLine,
  formatRecordLine,
  type CellLineStart,
  type FieldsLine,
  type LineText,
  type LogLine,
  type RecordChange,
  type RevertLine,
  type ReviewLine,
  type Unnumbered,
} from '../../../provenance/log-line.ts'
import type { RecordKey } from '../../cell-work.ts'
import { countDeleted } from '../../rows/deleted-blocks.ts'
import type { DecidedRow, ProposedRow } from '../../rows/proposal-queries.ts'
import { runSync, type Steps } from '../../rules/steps.ts'
import type { FieldNumbers } from '../../rules/written/number-fields.ts'
import { writtenByCell, writtenByRecord, type WrittenValues } from '../../rules/written/written-by.ts'
import type { ErasingChange, StoredText } from '../../rules/log/erase.ts'
import type { TakeOverChange } from '../../rules/log/take-over.ts'
import { FIELD_CHANGES, keptColumns } from '../../fields/stored-changes.ts'
import type { CachedResult, Holders, NewRecord, StoreChange, StoredRecord } from '../../rules/store-change.ts'
import { quoted } from '../database/schema.ts'
import { toColumn } from '../database/values.ts'
import { StoredLog } from './change-log.ts'
import { emptyColumns, linesOfRecord, replaceLine } from './erased-lines.ts'
import { forgetResults } from './forget-results.ts'
import { insertImported, type ImportedLine } from './imported-lines.ts'
import { readKeptValues } from './kept-values.ts'
import { StoredRecords } from './stored-records.ts'
import { storeWriters } from './written-values.ts'
import type { CellStates } from './cell-states.ts'
import type { Connection } from '../database/connection.ts'
import { lastEntry } from '../database/last-entry.ts'
import { entryTime } from '../../rows/entry-time.ts'
import { runNumber } from '../../rows/stored-rows.ts'

/** A provenance line. */
interface RecordedLine {
  /** The record to which it belongs; null for a change of fields, and for several records. */
  readonly record: RecordKey | null
  readonly text: LineText
  /** The number of the run that wrote it. */
  readonly run: number | null
  /** The values that it writes. */
  readonly written: readonly WrittenValues[]
  /** The records of a line with imported ones; absent for any other line. */
  readonly imported?: ImportedLine
}

/** A line to which imported records are still added. */
interface OpenLine {
  readonly records: ImportedRecords
  readonly first: RecordKey
  readonly written: WrittenValues[]
}

interface RecordCounters {
  readonly records: number
  readonly lastKey: RecordKey
}

const COUNT_DELETED = countDeleted('?1')

/** Thrown to roll a successful trial back. */
const TRIED = new Error('this was tried out only')

/** Lines that one statement inserts. */
const LINES_AT_ONCE = 64

/** The state from which a change set starts. */
export interface ChangeStart {
  readonly db: Connection
  readonly contract: Contract
  readonly states: CellStates
  /** The numbers of the fields of the contract. */
  readonly numbers: FieldNumbers
}

/**
 * The changes of a transaction: record writes, cell states, provenance lines. All that must change together is part of one
 * change set; it keeps numbers and counters, which are written at its end.
 */
export class ChangeSet implements TakeOverChange, ErasingChange {
  readonly db: Connection
  readonly contract: Contract
  readonly records: StoredRecords
  readonly cells: CellStates
  readonly log: StoredLog
  /** Time of the change, UTC with milliseconds (D40); never before that of the last entry. */
  readonly at: string
  /** The current time in the same form: deadlines count from it. */
  readonly now: string
  readonly #numbers: FieldNumbers
  readonly #firstSeq: number
  readonly #lines: RecordedLine[] = []
  #changesFields = false
  /** The line after {@link #lines} that is not complete yet; null for none. */
  #open: OpenLine | null = null
  /** Number of the lines that are in the table. */
  #inserted = 0
  /** Read when first needed: most changes create no records. */
  #counters: RecordCounters | null = null

  constructor({ db, contract, states, numbers }: ChangeStart) {
    this.db = db
    this.contract = contract
    this.cells = states
    this.#numbers = numbers
    this.records = new StoredRecords({ db, contract, cells: states })
    this.log = new StoredLog({ db, contract }, () => this.insertLines())
    const last = lastEntry(db)
    this.now = new Date().toISOString()
    this.at = entryTime(this.now, last.line)
    this.#firstSeq = last.seq + 1
  }

  /** The seq of the next line. */
  get nextSeq(): number {
    return this.#firstSeq + this.lineCount
  }

  get lastSeq(): number {
    return this.nextSeq - 1
  }

  /** Number of added lines. */
  get lineCount(): number {
    return this.#lines.length + (this.#open === null ? 0 : 1)
  }

  /** Whether fields are changed. */
  get changesFields(): boolean {
    return this.#changesFields
  }

  /** Returns the added lines, for the mirror. */
  lines(): readonly LineText[] {
    this.#closeLine()
    return this.#lines.map(({ text }) => text)
  }

  /** Adds the provenance line of a computed cell; returns its seq. `provenance` is JSON of the members of its kind. */
  logCell(line: Unnumbered<CellLineStart>, provenance: string, record: RecordKey): number {
    const start = formatCellLine({ seq: this.nextSeq, at: this.at, ...line }, provenance)
    return this.#add({
      record,
      text: { start, end: '' },
      run: runNumber(line.run_id),
      written: [writtenByCell(line, record)],
    })
  }

  /** Adds the provenance line of a reverted cell; returns its seq. */
  logRevert(line: Unnumbered<RevertLine>, record: RecordKey): number {
    const text = whole({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record, text, run: runNumber(line.run_id), written: [writtenByCell(line, record)] })
  }

  /** Adds the provenance line of a review; returns its seq. */
  logReview(line: Unnumbered<ReviewLine>, record: RecordKey): number {
    const text = whole({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record, text, run: null, written: [] })
  }

  /** Adds the provenance line of a record's change, or the record to that of others; returns its seq. */
  logRecord(change: RecordChange, record: RecordKey): number {
    if (isImportedRecord(change)) return this.#logImported(change, record)
    return this.#add({
      record,
      text: formatRecordLine({ seq: this.nextSeq, at: this.at }, change),
      run: typeof change.run === 'string' ? runNumber(change.run) : null,
      written: [writtenByRecord(change, record)],
    })
  }

  #logImported(change: ImportedRecord, record: RecordKey): number {
    const open = this.#open
    if (open?.records.add(change) !== true) {
      this.#closeLine()
      const records = new ImportedRecords({ seq: this.nextSeq, at: this.at }, change)
      records.add(change)
      this.#open = { records, first: record, written: [writtenByRecord(change, record)] }
      return this.lastSeq
    }
    open.written.push(writtenByRecord(change, record))
    return this.lastSeq
  }

  /** Completes the line to which imported records were added. */
  #closeLine(): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const { first, records, written } = open
    const parts = records.text()
    this.#addRows(parts, { first, written, run: runNumber(records.run) })
  }

  #addRows(
    parts: ImportedRecordsText,
    { first, written, run }: Pick<RecordedLine, 'written' | 'run'> & Pick<ImportedLine, 'first'>,
  ): void {
    const imported = { ...parts, first, count: written.length }
    this.#lines.push({ record: null, text: linePartsOf(parts), run, written, imported })
    this.insertLines()
  }

  /** Adds the provenance line of a change of fields; returns its seq. */
  logFields(line: Unnumbered<FieldsLine>): number {
    this.#changesFields = true
    const text = whole({ seq: this.nextSeq, at: this.at, ...line })
    return this.#add({ record: null, text, run: null, written: [] })
  }

  logTaken(text: string, record: RecordKey | null, written: WrittenValues | null): number {
    return this.#add({
      record,
      text: { start: text, end: '' },
      run: null,
      written: written === null ? [] : [written],
    })
  }

  logTakenRecords(text: string, written: readonly WrittenValues[]): number {
    this.#closeLine()
    this.#addRows(partsOf(text), { first: this.newKey(), written, run: null })
    return this.lastSeq
  }

  linesOf(recordId: string, lives: readonly RecordKey[]): readonly StoredText[] {
    this.insertLines()
    return linesOfRecord(this.db, recordId, lives)
  }

  replaceLine(line: StoredText): void {
    replaceLine(this.db, line)
  }

  emptyKept(record: RecordKey, columns: ReadonlySet<string>): boolean {
    const kept = keptColumns(this.db.query(FIELD_CHANGES)).filter(({ name }) => columns.has(name))
    return emptyColumns(
      this.db,
      record,
      kept.map(({ name }) => name),
    )
  }

  #add(line: RecordedLine): number {
    this.#closeLine()
    this.#lines.push(line)
    if (this.#lines.length - this.#inserted >= LINES_AT_ONCE) this.insertLines()
    return this.lastSeq
  }

  /** Inserts the lines so far into the table, where they can be read. */
  insertLines(): void {
    this.#closeLine()
    const lines = this.#inserted === 0 ? this.#lines : this.#lines.slice(this.#inserted)
    if (lines.length === 0) return
    const from = this.#firstSeq + this.#inserted
    // Lines without a run, as those of large upserts, do not need the column.
    const ofRuns = lines.some(({ run }) => run !== null)
    const params: SQLInputValue[] = []
    for (const [index, { record, text, run, imported }] of lines.entries()) {
      if (imported !== undefined) insertImported(this.db, from + index, imported)
      params.push(from + index, record, imported?.start ?? text.start)
      if (ofRuns) params.push(run)
    }
    const [columns, places] = ofRuns
      ? ['seq, record, line, run', '(?, ?, ?, ?)']
      : ['seq, record, line', '(?, ?, ?)']
    this.db.run(
      `INSERT INTO "$provenance" (${columns}) VALUES ${places}${`, ${places}`.repeat(lines.length - 1)}`,
      ...params,
    )
    this.#inserted = this.#lines.length
    storeWriters(
      this.db,
      this.#numbers,
      lines.flatMap(({ written }) => written),
    )
  }

  load(ids: readonly string[]): void {
    this.records.load(ids)
  }

  newKey(): RecordKey {
    return this.#recordCounters().lastKey + 1
  }

  insert(record: NewRecord): void {
    this.#counters = { records: this.#recordCounters().records + 1, lastKey: record.key }
    this.records.insert(record)
  }

  keptValues(keys: readonly RecordKey[]): ReadonlyMap<RecordKey, JsonObject> {
    return readKeptValues(this.db, keys)
  }

  /** Deletes a record and stores its former key. */
  delete(record: StoredRecord, seq: number): void {
    const { records, lastKey } = this.#recordCounters()
    this.#counters = { records: records - 1, lastKey }
    this.records.delete(record)
    this.db.run(
      'INSERT INTO "$deleted" (record_id, record, seq) VALUES (?, ?, ?)',
      record.id,
      record.key,
      seq,
    )
    this.db.run(COUNT_DELETED, record.key)
  }

  /** Returns the number of records after this change set. */
  totalRecords(): number {
    return this.#recordCounters().records
  }

  #recordCounters(): RecordCounters {
    if (this.#counters === null) {
      const sheet = this.db.get('SELECT records, last_record FROM "$sheet"')
      this.#counters = { records: Number(sheet?.['records']), lastKey: Number(sheet?.['last_record']) }
    }
    return this.#counters
  }

  /** Runs one operation, which happens entirely or not at all, independently of the others of the transaction. */
  atomically<T>(operation: () => T): T {
    this.#closeLine()
    const before = {
      lines: this.#lines.length,
      inserted: this.#inserted,
      counters: this.#counters,
      cells: this.cells.counted(),
    }
    this.db.run('SAVEPOINT operation')
    try {
      const result = operation()
      this.flush()
      this.db.run('RELEASE operation')
      return result
    } catch (error) {
      this.db.exec('ROLLBACK TO operation; RELEASE operation')
      this.records.drop()
      this.#open = null
      this.#lines.length = before.lines
      // The rollback also removed lines of earlier operations that were inserted during this one.
      this.#inserted = before.inserted
      this.#counters = before.counters
      this.cells.recount(before.cells)
      throw error
    }
  }

  tryOut<T>(steps: (trial: StoreChange) => Steps<T>): T {
    const tried: { result?: T } = {}
    try {
      this.atomically(() => {
        tried.result = runSync(steps(this))
        throw TRIED
      })
    } catch (error) {
      if (error !== TRIED) throw error
    }
    return tried.result as T
  }

  together<T>(steps: readonly Steps<T>[]): T[] {
    return steps.map(runSync)
  }

  /** Returns a lookup of the ids of the records that have a value. */
  holders(): Holders {
    this.flush()
    const { db } = this
    return function* (field, value) {
      const holding = db.prepare(`SELECT id FROM "$data" WHERE ${quoted(field.name)} = ?`)
      for (const row of holding.iterate(toColumn(value))) yield String(row['id'])
    }
  }

  forgetResults(results: readonly CachedResult[]): void {
    forgetResults(this.db, results)
  }

  insertProposed(proposal: number, records: readonly ProposedRow[]): void {
    for (const [number, { recordId, key, version, was, change }] of records.entries()) {
      this.db.run(
        `INSERT INTO "$proposal_record" (proposal, number, record_id, record, version, was, change)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        proposal,
        number,
        recordId,
        key,
        version === null ? null : Number(version),
        was,
        change,
      )
    }
  }

  decideProposed(proposal: number, records: readonly DecidedRow[]): void {
    for (const { number, decided, key, version } of records) {
      this.db.run(
        'UPDATE "$proposal_record" SET decided = ?, record = ?, version = ? WHERE proposal = ? AND number = ?',
        decided,
        key,
        version === null ? null : Number(version),
        proposal,
        number,
      )
    }
  }

  flush(): void {
    this.records.flush()
  }

  /** Does nothing: the writing thread has no other requests meanwhile. */
  pause(): void {}

  /** Writes what is buffered until the end of the transaction: the last lines, and counters. */
  finish(): void {
    this.flush()
    this.insertLines()
    this.cells.flushCounters(this.lastSeq)
    if (this.#counters === null) return
    const { records, lastKey } = this.#counters
    this.db.run('UPDATE "$sheet" SET records = ?, last_record = ?', records, lastKey)
  }
}

function whole(line: LogLine): LineText {
  return { start: formatLine(line), end: '' }
}
