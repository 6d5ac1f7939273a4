import type { Contract } from '../../contract/contract.ts'
import { formatLine, formatRecordLine, type CellLine, type RecordChange } from '../../provenance/log-line.ts'
import type { RecordKey } from '../sheet-store.ts'
import { CellStates } from './cell-states.ts'
import type { Connection } from './connection.ts'
import { loadTargets } from './define.ts'

/** The line of a computed cell without what the change set gives it. */
export type UnnumberedCellLine = Omit<CellLine, 'seq' | 'at'>

interface PendingLine {
  readonly seq: number
  readonly record: RecordKey
  readonly text: string
}

interface RecordCounters {
  records: number
  lastKey: RecordKey
}

/** Lines that go into the table with one statement. */
const LINES_AT_ONCE = 32

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
  /** Read when first needed: most changes create no records. */
  #counters: RecordCounters | null = null
  #lines: string[] = []
  #pending: PendingLine[] = []

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

  /** Adds the provenance line of a computed cell; answers with its seq. */
  logCell(line: UnnumberedCellLine, record: RecordKey): number {
    const seq = this.nextSeq
    // Rest properties lose what TypeScript knows of an open-ended line.
    const numbered = { seq, at: this.at, ...line } as CellLine
    return this.#add({ seq, record, text: formatLine(numbered) })
  }

  /** Adds the provenance line of a record's change; answers with its seq. */
  logRecord(change: RecordChange, record: RecordKey): number {
    const seq = this.nextSeq
    return this.#add({ seq, record, text: formatRecordLine({ seq, at: this.at }, change) })
  }

  #add(line: PendingLine): number {
    this.#seq = line.seq
    this.#lines.push(line.text)
    this.#pending.push(line)
    if (this.#pending.length >= LINES_AT_ONCE) this.#insertLines()
    return line.seq
  }

  #insertLines(): void {
    const lines = this.#pending
    if (lines.length === 0) return
    this.#pending = []
    const places = lines.map(() => '(?, ?, ?)').join(', ')
    this.db.run(
      `INSERT INTO "$provenance" (seq, record, line) VALUES ${places}`,
      ...lines.flatMap(({ seq, record, text }) => [seq, record, text]),
    )
  }

  /** Counts a record that is being created; answers with its key, which no record has had before. */
  newRecord(): RecordKey {
    const counters = this.#recordCounters()
    counters.records += 1
    counters.lastKey += 1
    return counters.lastKey
  }

  /** Counts a record that is being deleted, and remembers the key that its id had. */
  recordDeleted(id: string, key: RecordKey): void {
    this.#recordCounters().records -= 1
    this.db.run('INSERT INTO "$deleted" (record_id, record) VALUES (?, ?)', id, key)
  }

  /** The number of records, as this change set leaves it. */
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
      this.#pending = []
      this.#counters = null
      this.#seq = before.seq
      this.#lines.length = before.lines
      throw error
    }
  }

  /** Writes what is still held back: lines and counters. */
  flush(): void {
    this.#insertLines()
    this.cells.flushCounters()
    if (this.#counters === null) return
    const { records, lastKey } = this.#counters
    this.db.run('UPDATE "$sheet" SET records = ?, last_record = ?', records, lastKey)
    this.#counters = null
  }
}

/** The seq of the last provenance line, 0 when there is none. */
export function lastSeq(db: Connection): number {
  return Number(db.get('SELECT max(seq) AS seq FROM "$provenance"')?.['seq'] ?? 0)
}
