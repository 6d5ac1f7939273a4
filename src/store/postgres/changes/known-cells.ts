import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordKey } from '../../cell-work.ts'
import type { CellCounts } from './cell-counts.ts'
import { CellWriter, type CellFacts, type CellPlace } from './cell-writer.ts'
import type { ClientConnection } from '../database/connection.ts'
import { type TodoState } from '../../rows/stored-rows.ts'
import { canBeBlocked } from '../../rows/blocked-sql.ts'
import { StoredTargets, type StoredTarget } from '../../rows/stored-targets.ts'

/** Cells processed between two yields to the event loop: a few milliseconds' worth. */
const CELLS_A_TURN = 2000

/** Whether any cell was ever reviewed, for all operations of a transaction. */
export interface KnownReviews {
  any: boolean
}

/** A cell with another value; the field is null for all cells of a record. */
export interface ChangedValue {
  readonly record: RecordKey
  readonly field: string | null
}

/** The facts of a cell without rows. */
export const NOTHING: CellFacts = { cell: null, todo: null, failure: null }

/**
 * The rows of the cells of these targets in these records. The limits keep the planner from joining, for which it would read the whole
 * tables: they have a row for each cell of the sheet, and a transaction is about a few hundred of these.
 */
export const CELLS_OF_RECORDS = `
  SELECT target, record, cell.mark AS cell_mark, cell.hash, todo.mark AS todo_mark, todo.state, todo.blocked
  FROM unnest($1::integer[]) AS targets(target) CROSS JOIN unnest($2::bigint[]) AS records(record)
  LEFT JOIN LATERAL (
    SELECT mark, hash FROM "$cell" AS known WHERE known.target = targets.target AND known.record = records.record LIMIT 1
  ) AS cell ON true
  LEFT JOIN LATERAL (
    SELECT mark, state, blocked FROM "$todo" AS known WHERE known.target = targets.target AND known.record = records.record LIMIT 1
  ) AS todo ON true
  WHERE cell.mark IS NOT NULL OR todo.mark IS NOT NULL`

/** The states of cells within a transaction after its operations so far; read and written many at a time. */
export class KnownCells {
  readonly targets: readonly StoredTarget[]
  /** Active targets whose cells can be blocked, in the order of their dependencies. */
  readonly blockable: readonly StoredTarget[]
  readonly reviews: KnownReviews
  readonly #db: ClientConnection
  readonly #loaded = new Set<RecordKey>()
  /** The stored facts of loaded cells that have rows. */
  readonly #before = new Map<number, CellFacts>()
  /** The changed facts. */
  readonly #now = new Map<number, CellFacts & CellPlace>()
  /** The ids of the targets whose queries read what was changed, since the transaction was last flushed. */
  readonly #changedReads = new Set<number>()
  /** The cells whose reviews end. */
  #changed: ChangedValue[] = []

  constructor(
    db: ClientConnection,
    targets: readonly StoredTarget[],
    reviews: KnownReviews = { any: false },
  ) {
    this.#db = db
    this.reviews = reviews
    this.targets = targets
    const stored = new StoredTargets(targets)
    this.blockable = stored
      .downstream(targets.map(({ field }) => field))
      .filter((target) => canBeBlocked(target, stored))
  }

  /** Reads the states of all cells of these records. */
  async load(records: readonly RecordKey[]): Promise<void> {
    const wanted = [...new Set(records)].filter((record) => !this.#loaded.has(record))
    for (const record of wanted) this.#loaded.add(record)
    if (wanted.length === 0 || this.targets.length === 0) return
    const rows = await this.#db.plannedAnew(
      CELLS_OF_RECORDS,
      this.targets.map(({ id }) => id),
      wanted,
    )
    for (const row of rows) {
      const { hash, cell_mark: cellMark, todo_mark: todoMark, state } = row
      this.#before.set(placeOf(Number(row['target']), Number(row['record'])), {
        cell:
          cellMark === null ? null : { hash: hash instanceof Buffer ? hash : null, mark: Number(cellMark) },
        todo:
          todoMark === null
            ? null
            : { state: Number(state) as TodoState, mark: Number(todoMark), blocked: row['blocked'] === true },
        failure: null,
      })
    }
  }

  /** Registers a new record, which has no stored cells. */
  created(record: RecordKey): void {
    this.#loaded.add(record)
  }

  facts(target: number, record: RecordKey): CellFacts {
    if (!this.#loaded.has(record)) throw new Error('a cell was asked for that is not loaded')
    const place = placeOf(target, record)
    return this.#now.get(place) ?? this.#before.get(place) ?? NOTHING
  }

  /** Sets the facts of a cell after an operation. */
  put(cell: CellFacts & CellPlace): void {
    this.#now.set(placeOf(cell.target, cell.record), cell)
  }

  /** Notes that what the query of a target reads has changed. */
  changeRead(target: number): void {
    this.#changedReads.add(target)
  }

  /** Ends the reviews of cells whose values have changed. */
  endReviews(cells: readonly ChangedValue[]): void {
    if (cells.length > 0) this.#changed = this.#changed.concat(cells)
  }

  async #writeReviews(): Promise<void> {
    const changed = this.#changed
    if (changed.length === 0) return
    this.#changed = []
    await this.#db.run(
      `UPDATE "$review" AS review SET active = FALSE
       FROM unnest($1::bigint[], $2::text[]) AS changed(record, field)
       WHERE review.active AND review.record = changed.record
         AND (changed.field IS NULL OR review.field = changed.field)`,
      changed.map(({ record }) => record),
      changed.map(({ field }) => field),
    )
  }

  /** Writes the changes into the tables; adds those of the counters of targets to `counts`. */
  async flush(counts: CellCounts): Promise<void> {
    for (const target of this.#changedReads) counts.changeRead(target)
    await this.#writeReviews()
    if (this.#now.size === 0) return
    const writer = new CellWriter(this.#db)
    let seen = 0
    for (const [place, now] of this.#now) {
      // Yields to requests that read.
      if ((seen += 1) % CELLS_A_TURN === 0) await nextTurn()
      const before = this.#before.get(place) ?? NOTHING
      writer.add(before, now)
      counts.moved(now.target, before, now)
      this.#before.set(place, { ...now, failure: null })
    }
    this.#now.clear()
    await writer.write()
  }
}

/** The most targets that a store can have had: the range left beside records in the number of a cell. */
const TARGETS = 65_536

/** Returns a number that identifies a cell: faster to make and to look up than a text. */
export function placeOf(target: number, record: RecordKey): number {
  if (target >= TARGETS) throw new Error(`a sheet with more than ${TARGETS} derived fields`)
  return record * TARGETS + target
}
