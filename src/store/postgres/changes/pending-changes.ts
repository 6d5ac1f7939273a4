import type { Contract } from '../../../contract/contract.ts'
import type { RecordKey } from '../../cell-work.ts'
import { CellCounts } from './cell-counts.ts'
import type { ClientConnection } from '../database/connection.ts'
import { copyRows, WORTH_COPYING } from '../database/copy-into.ts'
import { jsonArrays } from '../database/json-arrays.ts'
import { KnownCells, type KnownReviews } from './known-cells.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import { KnownRecords } from './known-records.ts'
import type { FieldNumbers } from '../../rules/written/number-fields.ts'
import { PresentWriters, type WriterChanges } from '../../rules/written/present-writers.ts'
import type { WrittenValues } from '../../rules/written/written-by.ts'

/** A provenance line that belongs to a record, or to several. */
export interface ProvenanceRow {
  readonly seq: number
  /** Null for several. */
  readonly record: RecordKey | null
  readonly text: string
  /** The number of the run that wrote it. */
  readonly run: number | null
  /** The values that it writes. */
  readonly written: readonly WrittenValues[]
}

interface PendingParts {
  readonly db: ClientConnection
  readonly contract: Contract
  /** The numbers of the fields of the contract. */
  readonly numbers: FieldNumbers
  readonly targets: readonly StoredTarget[]
  readonly reviews: KnownReviews
}

/**
 * Inserts lines of the log, and stores who has written the present values of their records: $2 to $5 are writers with the changes of
 * their counters, $6 to $9 rows of `$written`, in which a writer is given by its place among these.
 */
const INSERT_LINES = `
  WITH lines AS (
    INSERT INTO "$provenance" (seq, record, run, line)
    SELECT s, r, n, l FROM json_to_recordset($1::json) AS new(s bigint, r bigint, n bigint, l text)
  ), writers AS (
    INSERT INTO "$writer" AS known (id, actor, run, cells, parts)
    SELECT (SELECT coalesce(max(id), 0) FROM "$writer") + place, actor, run, cells, parts
    FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS new(actor, run, cells, parts, place)
    ON CONFLICT (actor, run) DO UPDATE SET cells = known.cells + excluded.cells, parts = known.parts + excluded.parts
    RETURNING id, actor, run
  ), given AS MATERIALIZED (
    SELECT record, part, id AS writer, fields
    FROM unnest($6::bigint[], $7::bigint[], $8::integer[], $9::bigint[]) AS new(record, part, place, fields)
      JOIN writers ON actor = ($2::text[])[place + 1] AND run = ($3::bigint[])[place + 1]
  ), emptied AS (
    DELETE FROM "$written" WHERE (record, part, writer) IN (SELECT record, part, writer FROM given WHERE fields = 0)
  )
  INSERT INTO "$written" (record, part, writer, fields) SELECT record, part, writer, fields FROM given WHERE fields > 0
  ON CONFLICT (record, part, writer) DO UPDATE SET fields = excluded.fields`

/** Changes of the operations of a transaction, until a few statements write them into the tables. */
export class PendingChanges {
  readonly records: KnownRecords
  readonly cells: KnownCells
  /** Changes of the counters of targets by flushed changes. */
  readonly counts = new CellCounts()
  readonly #db: ClientConnection
  readonly #writers: PresentWriters
  #lines: ProvenanceRow[] = []
  #losesWriters = false

  constructor({ db, contract, numbers, targets, reviews }: PendingParts) {
    this.#db = db
    this.#writers = new PresentWriters(numbers)
    this.records = new KnownRecords(db, contract, this.#writers)
    this.cells = new KnownCells(db, targets, reviews)
  }

  /** Reads records with these ids, and their cells. */
  async load(ids: readonly string[]): Promise<void> {
    await this.records.load(ids)
    const keys = ids.map((id) => this.records.byId(id)?.key).filter((key) => key !== undefined)
    await this.cells.load(keys)
  }

  /** Whether flushed changes may leave writers of whom nothing is in force. */
  get losesWriters(): boolean {
    return this.#losesWriters
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
    for (const { written } of lines) for (const values of written) this.#writers.write(values)
    const writers = this.#writers.take()
    this.#losesWriters ||= writers.writers.some(({ parts }) => parts < 0)
    await this.#insertImports(lines)
    const isLarge = lines.length >= WORTH_COPYING
    if (isLarge) await this.#copyLines(lines)
    const rows = lines.values().map(({ seq, record, run, text }) => ({ s: seq, r: record, n: run, l: text }))
    const texts = isLarge ? [] : [...jsonArrays(rows)]
    await this.#storeLines(texts.shift() ?? '[]', writers)
    for (const some of texts) await this.#storeLines(some, { writers: [], rows: [] })
  }

  /** Stores which records the lines with several have: their keys follow one another. */
  async #insertImports(lines: readonly ProvenanceRow[]): Promise<void> {
    const imports = lines.filter(({ record }) => record === null)
    if (imports.length === 0) return
    await this.#db.run(
      `INSERT INTO "$import" (seq, first, last)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])`,
      imports.map(({ seq }) => seq),
      imports.map(({ written }) => written[0]?.record ?? 0),
      imports.map(({ written }) => written.at(-1)?.record ?? 0),
    )
  }

  async #storeLines(lines: string, { writers, rows }: WriterChanges): Promise<void> {
    await this.#db.run(
      INSERT_LINES,
      lines,
      writers.map(({ actor }) => actor),
      writers.map(({ run }) => run ?? 0),
      writers.map(({ cells }) => cells),
      writers.map(({ parts }) => parts),
      rows.map(({ record }) => record),
      rows.map(({ part }) => part),
      rows.map(({ writer }) => writer),
      rows.map(({ fields }) => fields),
    )
  }

  #copyLines(lines: readonly ProvenanceRow[]): Promise<void> {
    const rows = lines
      .values()
      .map(({ seq, record, run, text }) => [
        String(seq),
        record === null ? null : String(record),
        run === null ? null : String(run),
        text,
      ])
    return copyRows(this.#db, { table: '$provenance', columns: ['seq', 'record', 'run', 'line'] }, rows)
  }
}
