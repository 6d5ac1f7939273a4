import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { failureGroup } from '../../../errors/failure-group.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { NewRecord } from '../../rules/store-change.ts'
import type { CellFailureNote } from '../../sheet-store.ts'
import { BlockedCells } from './blocked-cells.ts'
import type { Connection, StoredTuple } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { FAILED, hashBytes, MISSING, STALE, type TodoState, versionOf } from '../../rows/stored-rows.ts'
import { StoredTargets, type StoredTarget } from '../../rows/stored-targets.ts'
import { BLOCKED_COUNTERS, type BlockedCounter } from '../../rows/blocked-sql.ts'
import { endReviews } from '../../rows/reviews.ts'

/** The state of a cell before a change. */
export interface CellRow {
  /** Whether it was computed, and not overridden since. */
  readonly computed: boolean
  readonly overridden: boolean
  readonly todo: TodoState | null
  /** See {@link WorkCell.version}. */
  readonly version: string
}

/** The most parameters of a statement that inserts cells, each of which takes four. */
const PARAMS_AT_ONCE = 3000

const COUNTERS = { [MISSING]: 'missing', [STALE]: 'stale', [FAILED]: 'failed' } as const

/** The columns of a cell in the tables of cells; null where a row is missing. */
const CELL_COLUMNS = 'cell.hash IS NOT NULL, cell.mark, todo.state, todo.mark'

/** Selects one row for a cell, whichever of its rows exist. */
const CELL_ROW = `
  SELECT ${CELL_COLUMNS}
  FROM (SELECT ? AS target, ? AS record) AS wanted
  LEFT JOIN "$cell" AS cell ON cell.target = wanted.target AND cell.record = wanted.record
  LEFT JOIN "$todo" AS todo ON todo.target = wanted.target AND todo.record = wanted.record`

/** Counts, and changed versions, that are not written yet. */
interface CountedCells {
  readonly deltas: ReadonlyMap<string, number>
  readonly changedReads: ReadonlySet<number>
}

const NOTHING_COUNTED: CountedCells = { deltas: new Map(), changedReads: new Set() }

type Counter = (typeof COUNTERS)[TodoState] | 'overridden' | BlockedCounter

/**
 * Maintains the states of cells during a change set: which cells are missing, stale, failed or overridden, which of them
 * are blocked, and the number of each (D32). States follow from writes and are never searched for.
 */
export class CellStates extends StoredTargets {
  readonly #db: Connection
  /** The statements of {@link cellOfRecord}. */
  readonly #cellsOfRecord = new Map<StoredTarget, string>()
  readonly #blocked: BlockedCells
  #deltas = new Map<string, number>()
  /** Whether any cell was ever reviewed; null until that is needed. */
  #isReviewed: boolean | null = null
  /** The ids of the targets whose queries read what the transaction has changed. */
  #changedReads = new Set<number>()

  constructor(db: Connection, targets: readonly StoredTarget[]) {
    super(targets)
    this.#db = db
    this.#blocked = new BlockedCells(db, this)
  }

  cell(target: StoredTarget, record: RecordKey): CellRow {
    return cellOf(target, this.#db.tuple(CELL_ROW, target.id, record) ?? [])
  }

  /** Returns a cell with its value, as in its column, and the id of its record; null when the record does not exist. */
  cellOfRecord(
    target: StoredTarget,
    record: RecordKey,
  ): { readonly cell: CellRow; readonly id: string; readonly value: SQLOutputValue | undefined } | null {
    const row = this.#db.tuple(this.#cellOfRecordSql(target), record)
    if (row === undefined) return null
    const [id, value, ...cell] = row
    return { cell: cellOf(target, cell), id: String(id), value }
  }

  #cellOfRecordSql(target: StoredTarget): string {
    let sql = this.#cellsOfRecord.get(target)
    if (sql === undefined) {
      sql = `SELECT data.id, data.${quoted(target.field)}, ${CELL_COLUMNS}
        FROM "$data" AS data
        LEFT JOIN "$cell" AS cell ON cell.target = ${target.id} AND cell.record = data."$seq"
        LEFT JOIN "$todo" AS todo ON todo.target = ${target.id} AND todo.record = data."$seq"
        WHERE data."$seq" = ?`
      this.#cellsOfRecord.set(target, sql)
    }
    return sql
  }

  /** Applies the creation of records: their derived cells are missing, or overridden where they have a value (D2). */
  created(records: readonly NewRecord[]): void {
    this.#changeRead(null)
    const missing: SQLInputValue[] = []
    for (const { key, seq, written } of records) {
      const isBlocked = this.#blocked.ofNewRecord(written)
      for (const target of this.targets) {
        if (written(target.field) !== null) {
          this.#putOverride(target, key, seq)
        } else {
          const blocked = isBlocked(target) ? 1 : 0
          missing.push(target.id, key, seq, blocked)
          this.#count(target, 'missing', 1)
          this.#count(target, 'blocked', blocked)
        }
      }
    }
    for (let from = 0; from < missing.length; from += PARAMS_AT_ONCE) {
      const params = missing.slice(from, from + PARAMS_AT_ONCE)
      const places = `(?, ?, ${MISSING}, ?, ?)${`, (?, ?, ${MISSING}, ?, ?)`.repeat(params.length / 4 - 1)}`
      this.#db.run(`INSERT INTO "$todo" (target, record, state, mark, blocked) VALUES ${places}`, ...params)
    }
  }

  /** Applies the deletion of a record and its cells. */
  deleted(record: RecordKey): void {
    this.#changeRead(null)
    this.#endReviews(record, null)
    for (const target of this.targets) this.#forget(target, record)
  }

  /** Applies a manual write of a derived field, or its revert: a value overrides the cell, null ends that (D28). */
  writtenByHand(target: StoredTarget, record: RecordKey, write: { hasValue: boolean; seq: number }): void {
    this.#forget(target, record)
    if (write.hasValue) this.#putOverride(target, record, write.seq)
    else this.#putTodo(target, record, MISSING, write.seq)
  }

  /**
   * Applies the revert to a computed value. The cell becomes fresh if it was fresh with the same hash; otherwise its inputs
   * may have changed since, and it becomes stale, which the next run resolves (D32). A failure of the cell is deleted.
   */
  restored(target: StoredTarget, record: RecordKey, { hash, seq }: { hash: Uint8Array; seq: number }): void {
    const before = this.cell(target, record)
    const known = before.computed && this.#hasHash(target, record, hash)
    this.#forget(target, record)
    this.#db.run(
      'INSERT INTO "$cell" (target, record, hash, mark) VALUES (?, ?, ?, ?)',
      target.id,
      record,
      hash,
      seq,
    )
    if (!known || before.todo !== null) this.#putTodo(target, record, STALE, seq)
  }

  /** Applies a new value of a field, which is in its column: its review ends, and cells computed from it become stale. */
  inputWritten(field: string, record: RecordKey, seq: number): void {
    this.#changeRead(field)
    this.#endReviews(record, field)
    for (const target of this.computedFrom(field)) {
      const { computed, overridden, todo } = this.cell(target, record)
      if (overridden) {
        this.#db.run('UPDATE "$cell" SET mark = ? WHERE target = ? AND record = ?', seq, target.id, record)
      } else if (todo !== null) {
        this.#db.run('UPDATE "$todo" SET mark = ? WHERE target = ? AND record = ?', seq, target.id, record)
        if (target.required?.includes(field)) this.#check(target, record)
      } else if (computed) {
        this.#putTodo(target, record, STALE, seq)
      }
    }
  }

  /**
   * Applies a computed value; `before` is the cell's state before. `current` is false when the derivation file has changed
   * during the run: the cell is stale at once.
   */
  computed(
    target: StoredTarget,
    record: RecordKey,
    result: { before: CellRow; hash: Uint8Array; seq: number; current: boolean },
  ): void {
    const { before, hash, seq, current } = result
    if (before.overridden) this.#count(target, 'overridden', -1)
    if (before.todo !== null) this.#dropTodo(target, record)
    const known = before.computed || before.overridden
    this.#db.run(
      known
        ? 'UPDATE "$cell" SET hash = ?, mark = ? WHERE target = ? AND record = ?'
        : 'INSERT INTO "$cell" (hash, mark, target, record) VALUES (?, ?, ?, ?)',
      hash,
      seq,
      target.id,
      record,
    )
    if (!current) this.#putTodo(target, record, STALE, seq)
  }

  /** Makes a cell fresh whose inputs equal those of its last success. */
  unchanged(target: StoredTarget, record: RecordKey): void {
    this.#dropTodo(target, record)
  }

  /** Forgets the failure of a failed cell, which becomes what it was before: stale, or missing if it was never computed. */
  skipped(target: StoredTarget, record: RecordKey): void {
    const { computed, todo } = this.cell(target, record)
    if (todo !== FAILED) return
    this.#moveTodo(target, record, { from: FAILED, to: computed ? STALE : MISSING })
    this.#db.run('DELETE FROM "$failure" WHERE target = ? AND record = ?', target.id, record)
  }

  /** Applies a failed computation. An overridden cell stays overridden. */
  failed(target: StoredTarget, record: RecordKey, failure: CellFailureNote): void {
    const { overridden, todo } = this.cell(target, record)
    if (overridden) return
    if (todo === null) {
      this.#putTodo(target, record, FAILED, 0)
    } else if (todo !== FAILED) {
      this.#moveTodo(target, record, { from: todo, to: FAILED })
    }
    this.#db.run(
      'INSERT OR REPLACE INTO "$failure" (target, record, error, detail, alike, error_type, reason, response_body, at, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      target.id,
      record,
      failure.error,
      failure.detail ?? null,
      failureGroup(failure),
      failure.errorType,
      failure.reason,
      failure.responseBody ?? null,
      failure.at,
      failure.inputHash === undefined ? null : hashBytes(failure.inputHash),
    )
  }

  /** Writes the counters, and the versions of fields that queries read. Call it once, at the end of a transaction. */
  flushCounters(lastSeq: number): void {
    for (const id of this.#changedReads)
      this.#db.run('UPDATE "$target" SET sources = ? WHERE id = ?', String(lastSeq), id)
    this.#changedReads.clear()
    for (const [key, delta] of this.#deltas) {
      const [id, counter] = key.split(' ') as [string, Counter]
      if (delta !== 0) {
        this.#db.run(`UPDATE "$target" SET ${counter} = ${counter} + ? WHERE id = ?`, delta, Number(id))
      }
    }
    this.#deltas.clear()
  }

  /** Returns the counts that are not written yet, for {@link recount}. */
  counted(): CountedCells {
    if (this.#deltas.size + this.#changedReads.size === 0) return NOTHING_COUNTED
    return { deltas: new Map(this.#deltas), changedReads: new Set(this.#changedReads) }
  }

  /** Restores the counts before a change that is rolled back. */
  recount({ deltas, changedReads } = NOTHING_COUNTED): void {
    this.#deltas = new Map(deltas)
    this.#changedReads = new Set(changedReads)
  }

  /**
   * Makes a fresh computed cell stale though neither it nor an input was written: a computation under way remains valid
   * (D28).
   */
  outdated(target: StoredTarget, record: RecordKey): void {
    const { computed, todo } = this.cell(target, record)
    if (computed && todo === null) this.#putTodo(target, record, STALE, 0)
  }

  reviewed(): void {
    this.#isReviewed = true
  }

  #endReviews(record: RecordKey, field: string | null): void {
    this.#isReviewed ??= this.#db.get('SELECT 1 FROM "$review" LIMIT 1') !== undefined
    if (this.#isReviewed) this.#db.change(endReviews(record, field))
  }

  /** Notes that a field has changed in a record, or with null the set of records. */
  #changeRead(field: string | null): void {
    for (const { id } of this.readersOf(field)) this.#changedReads.add(id)
  }

  #hasHash(target: StoredTarget, record: RecordKey, hash: Uint8Array): boolean {
    const sql = 'SELECT 1 FROM "$cell" WHERE target = ? AND record = ? AND hash = ?'
    return this.#db.get(sql, target.id, record, hash) !== undefined
  }

  #forget(target: StoredTarget, record: RecordKey): void {
    const cell = this.#db.get(
      'DELETE FROM "$cell" WHERE target = ? AND record = ? RETURNING hash IS NULL AS overridden',
      target.id,
      record,
    )
    if (cell?.['overridden'] === 1) this.#count(target, 'overridden', -1)
    this.#dropTodo(target, record)
  }

  #dropTodo(target: StoredTarget, record: RecordKey): void {
    const todo = this.#db.tuple(
      'DELETE FROM "$todo" WHERE target = ? AND record = ? RETURNING state, blocked',
      target.id,
      record,
    )
    if (todo === undefined) return
    const state = todo[0] as TodoState
    this.#countTodo(target, { state, blocked: todo[1] === 1 }, -1)
    if (state === FAILED) {
      this.#db.run('DELETE FROM "$failure" WHERE target = ? AND record = ?', target.id, record)
    }
    this.#checkComputedFrom(target, record)
  }

  /** Changes the state of a pending cell. */
  #moveTodo(
    target: StoredTarget,
    record: RecordKey,
    { from, to }: { readonly from: TodoState; readonly to: TodoState },
  ): void {
    const sql = 'UPDATE "$todo" SET state = ? WHERE target = ? AND record = ? RETURNING blocked'
    const blocked = this.#db.tuple(sql, to, target.id, record)?.[0] === 1
    this.#countTodo(target, { state: from, blocked }, -1)
    this.#countTodo(target, { state: to, blocked }, 1)
    this.#checkComputedFrom(target, record)
  }

  #putTodo(target: StoredTarget, record: RecordKey, state: TodoState, version: number): void {
    this.#db.run(
      'INSERT INTO "$todo" (target, record, state, mark) VALUES (?, ?, ?, ?)',
      target.id,
      record,
      state,
      version,
    )
    this.#count(target, COUNTERS[state], 1)
    this.#check(target, record)
    this.#checkComputedFrom(target, record)
  }

  /** Checks whether the cell is blocked now, and in turn those computed from it. */
  #check(target: StoredTarget, record: RecordKey): void {
    this.#blocked.check(target, record, (changed, counter, by) => this.#count(changed, counter, by))
  }

  /** Checks the cells computed from a cell whose state has changed: that may block or unblock them. */
  #checkComputedFrom(target: StoredTarget, record: RecordKey): void {
    for (const next of this.computedFrom(target.field)) this.#check(next, record)
  }

  #putOverride(target: StoredTarget, record: RecordKey, seq: number): void {
    this.#db.run(
      'INSERT INTO "$cell" (target, record, hash, mark) VALUES (?, ?, NULL, ?)',
      target.id,
      record,
      seq,
    )
    this.#count(target, 'overridden', 1)
  }

  #countTodo(
    target: StoredTarget,
    { state, blocked }: { readonly state: TodoState; readonly blocked: boolean },
    delta: 1 | -1,
  ): void {
    this.#count(target, COUNTERS[state], delta)
    for (const counter of blocked ? BLOCKED_COUNTERS[state] : []) this.#count(target, counter, delta)
  }

  #count(target: StoredTarget, counter: Counter, delta: number): void {
    const key = `${target.id} ${counter}`
    this.#deltas.set(key, (this.#deltas.get(key) ?? 0) + delta)
  }
}

/** Returns the state of a cell from {@link CELL_COLUMNS}. */
function cellOf(
  { changed }: StoredTarget,
  [computed, cellVersion = null, state = null, todoVersion = null]: StoredTuple,
): CellRow {
  return {
    computed: computed === 1,
    overridden: computed === 0 && cellVersion !== null,
    todo: state === null ? null : (state as TodoState),
    version: versionOf(cellVersion, todoVersion, changed),
  }
}
