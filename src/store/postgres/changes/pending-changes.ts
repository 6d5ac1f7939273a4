import type { Contract } from '../../../contract/contract.ts'
import type { RecordKey } from '../../cell-work.ts'
import { CellCounts } from './cell-counts.ts'
import type { ClientConnection } from '../database/connection.ts'
import { givenRows } from '../database/given-rows.ts'
import { copyRows, WORTH_COPYING } from '../database/copy-into.ts'
import { jsonArrays } from '../database/json-arrays.ts'
import { KnownCells, type KnownReviews } from './known-cells.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import { KnownRecords } from './known-records.ts'
import { runAsync } from '../../rules/steps.ts'
import { noteWritten, type WrittenValues } from '../../rules/written/note-written.ts'

/** A provenance line that belongs to a record. */
export interface ProvenanceRow {
  readonly seq: number
  readonly record: RecordKey
  readonly text: string
  /** The number of the run that wrote it. */
  readonly run: number | null
  /** The values that it writes; null for none. */
  readonly written: WrittenValues | null
}

interface PendingParts {
  readonly db: ClientConnection
  readonly contract: Contract
  readonly targets: readonly StoredTarget[]
  readonly reviews: KnownReviews
}

/** Changes of the operations of a transaction, until a few statements write them into the tables. */
export class PendingChanges {
  readonly records: KnownRecords
  readonly cells: KnownCells
  /** Changes of the counters of targets by flushed changes. */
  readonly counts = new CellCounts()
  readonly #db: ClientConnection
  #lines: ProvenanceRow[] = []

  constructor({ db, contract, targets, reviews }: PendingParts) {
    this.#db = db
    this.records = new KnownRecords(db, contract)
    this.cells = new KnownCells(db, targets, reviews)
  }

  /** Reads records with these ids, and their cells. */
  async load(ids: readonly string[]): Promise<void> {
    await this.records.load(ids)
    const keys = ids.map((id) => this.records.byId(id)?.key).filter((key) => key !== undefined)
    await this.cells.load(keys)
  }

  addLines(lines: readonly ProvenanceRow[]): void {
    this.#lines = this.#lines.concat(lines)
  }

  async flush(): Promise<void> {
    await this.records.flush()
    await this.cells.flush(this.counts)
    await this.#insertLines()
  }

  async #insertLines(): Promise<void> {
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    const written = lines.flatMap((line) => line.written ?? [])
    await runAsync(noteWritten(this.#db, written, givenRows))
    if (lines.length >= WORTH_COPYING) return this.#copyLines(lines)
    const rows = lines.values().map(({ seq, record, run, text }) => ({ s: seq, r: record, n: run, l: text }))
    for (const some of jsonArrays(rows)) {
      await this.#db.run(
        `INSERT INTO "$provenance" (seq, record, run, line)
         SELECT s, r, n, l FROM json_to_recordset($1::json) AS new(s bigint, r bigint, n bigint, l text)`,
        some,
      )
    }
  }

  #copyLines(lines: readonly ProvenanceRow[]): Promise<void> {
    const rows = lines
      .values()
      .map(({ seq, record, run, text }) => [
        String(seq),
        String(record),
        run === null ? null : String(run),
        text,
      ])
    return copyRows(this.#db, { table: '$provenance', columns: ['seq', 'record', 'run', 'line'] }, rows)
  }
}
