import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordKey } from '../../cell-work.ts'
import type { CellCounts } from './cell-counts.ts'
import { CellWriter, type CellFacts, type CellPlace } from './cell-writer.ts'
import type { ClientConnection } from '../database/connection.ts'
import { type TodoState } from '../../rows/stored-rows.ts'
import { canBeBlocked } from '../../rows/blocked-sql.ts'
import { StoredTargets, type StoredTarget } from '../../rows/stored-targets.ts'

/** Cells that are gone through before others have their turn: a few milliseconds' worth. */
const CELLS_A_TURN = 2000

/** What there is of a cell that is in no table. */
export const NOTHING: CellFacts = { cell: null, todo: null, failure: null }

/** The states of cells that a transaction knows, as its operations so far leave them; read and written many at a time. */
export class KnownCells {
  readonly targets: readonly StoredTarget[]
  /** Active targets whose cells can be blocked, each after those that it is computed from. */
  readonly blockable: readonly StoredTarget[]
  readonly #db: ClientConnection
  readonly #loaded = new Set<RecordKey>()
  /** What is in the tables, of loaded cells that are there. */
  readonly #before = new Map<number, CellFacts>()
  /** What was changed. */
  readonly #now = new Map<number, CellFacts & CellPlace>()

  constructor(db: ClientConnection, targets: readonly StoredTarget[]) {
    this.#db = db
    this.targets = targets
    const stored = new StoredTargets(targets)
    this.blockable = stored
      .downstream(targets.map(({ field }) => field))
      .filter((target) => canBeBlocked(target, stored))
  }

  /** Reads the states of all cells of these records. */
  async load(records: readonly RecordKey[]): Promise<void> {
    const asked = [...new Set(records)].filter((record) => !this.#loaded.has(record))
    for (const record of asked) this.#loaded.add(record)
    if (asked.length === 0 || this.targets.length === 0) return
    const rows = await this.#db.all(
      `SELECT target, record, cell.mark AS cell_mark, cell.hash, todo.mark AS todo_mark, todo.state, todo.blocked
       FROM unnest($1::integer[]) AS targets(target) CROSS JOIN unnest($2::bigint[]) AS records(record)
       LEFT JOIN "$cell" AS cell USING (target, record) LEFT JOIN "$todo" AS todo USING (target, record)
       WHERE cell.mark IS NOT NULL OR todo.mark IS NOT NULL`,
      this.targets.map(({ id }) => id),
      asked,
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

  /** A new record has no cells that could be read. */
  created(record: RecordKey): void {
    this.#loaded.add(record)
  }

  facts(target: number, record: RecordKey): CellFacts {
    if (!this.#loaded.has(record)) throw new Error('a cell was asked for that is not loaded')
    const place = placeOf(target, record)
    return this.#now.get(place) ?? this.#before.get(place) ?? NOTHING
  }

  /** Takes over what an operation has made of a cell. */
  put(cell: CellFacts & CellPlace): void {
    this.#now.set(placeOf(cell.target, cell.record), cell)
  }

  /** Writes what was changed into the tables; adds to `counts` by how much the counters of targets change. */
  async flush(counts: CellCounts): Promise<void> {
    if (this.#now.size === 0) return
    const writer = new CellWriter(this.#db)
    let seen = 0
    for (const [place, now] of this.#now) {
      // Between some of many, requests that read have their turn.
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

/** Targets that a store can have had: what a number of two parts has room for beside the records. */
const TARGETS = 65_536

/** A number that tells cells apart: quicker to make and to find than a text. */
export function placeOf(target: number, record: RecordKey): number {
  if (target >= TARGETS) throw new Error(`a sheet with more than ${TARGETS} derived fields`)
  return record * TARGETS + target
}
