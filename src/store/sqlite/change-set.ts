import type { Contract } from '../../contract/contract.ts'
import { formatLine, type LogLine } from '../../provenance/log-line.ts'
import type { RecordKey } from '../sheet-store.ts'
import { CellStates } from './cell-states.ts'
import type { Connection } from './connection.ts'
import { loadTargets } from './define.ts'

/** A provenance line without its number, which the change set gives it. */
export type UnnumberedLine = LogLine extends infer Line
  ? Line extends LogLine
    ? Omit<Line, 'seq'>
    : never
  : never

/**
 * What a transaction is making: record writes, cell states, provenance lines. Everything that must change together
 * goes through one of these; numbering and counters are kept here.
 */
export class ChangeSet {
  readonly db: Connection
  readonly contract: Contract
  readonly cells: CellStates
  /** Time of the change, UTC with milliseconds (D40). */
  readonly at: string
  #seq: number
  #records = 0
  #lines: string[] = []

  constructor(db: Connection, contract: Contract, states: CellStates = new CellStates(db, loadTargets(db))) {
    this.db = db
    this.contract = contract
    this.cells = states
    this.at = new Date().toISOString()
    this.#seq = lastSeq(db)
  }

  /** The seq that the next line will get. */
  get nextSeq(): number {
    return this.#seq + 1
  }

  /** The lines added so far, for the mirror. */
  get lines(): readonly string[] {
    return this.#lines
  }

  get lastSeq(): number {
    return this.#seq
  }

  /** Adds a provenance line; answers with its seq. */
  log(line: UnnumberedLine, record: RecordKey | null): number {
    this.#seq += 1
    const text = formatLine({ seq: this.#seq, ...line } as LogLine)
    const recordId = 'record_id' in line ? line.record_id : null
    this.db.run(
      'INSERT INTO "$provenance" (seq, record_id, record, line) VALUES (?, ?, ?, ?)',
      this.#seq,
      recordId as string | null,
      record,
      text,
    )
    this.#lines.push(text)
    return this.#seq
  }

  /** Counts created (+1) and deleted (−1) records. */
  countRecords(delta: number): void {
    this.#records += delta
  }

  /** The number of records, as this change set leaves it. */
  totalRecords(): number {
    return Number(this.db.get('SELECT records FROM "$sheet"')?.['records']) + this.#records
  }

  /** Runs one operation so that it happens whole or not at all; the others of the transaction go on either way. */
  atomically<T>(operation: () => T): T {
    const before = { seq: this.#seq, lines: this.#lines.length }
    this.db.exec('SAVEPOINT operation')
    try {
      const result = operation()
      this.flush()
      this.db.exec('RELEASE operation')
      return result
    } catch (error) {
      this.db.exec('ROLLBACK TO operation; RELEASE operation')
      this.cells.discardCounters()
      this.#records = 0
      this.#seq = before.seq
      this.#lines.length = before.lines
      throw error
    }
  }

  /** Writes the counters. */
  flush(): void {
    this.cells.flushCounters()
    if (this.#records !== 0) this.db.run('UPDATE "$sheet" SET records = records + ?', this.#records)
    this.#records = 0
  }
}

/** The seq of the last provenance line, 0 when there is none. */
export function lastSeq(db: Connection): number {
  return Number(db.get('SELECT max(seq) AS seq FROM "$provenance"')?.['seq'] ?? 0)
}
