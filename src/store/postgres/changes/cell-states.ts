import type { JsonValue } from '../../../contract/json/json.ts'
import { blockOf, type PendingInput } from '../../../errors/block.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { CellFailureNote } from '../../sheet-store.ts'
import type { CellFacts, CellPlace } from './cell-writer.ts'
import { NOTHING, placeOf, type ChangedValue, type KnownCells } from './known-cells.ts'
import { needsOf, StoredTargets, type StoredTarget } from '../../rows/stored-targets.ts'
import { FAILED, MISSING, pendingInput, STALE, type TodoState, versionOf } from '../../rows/stored-rows.ts'

/** The state of a cell before a change. */
export interface CellRow {
  /** Null when the cell was never computed, or was written by hand. */
  readonly hash: Uint8Array | null
  readonly overridden: boolean
  readonly todo: TodoState | null
  /** See {@link WorkCell.version}. */
  readonly version: string
}

/**
 * Maintains the states of cells during an operation: which cells are missing, stale, failed or overridden, and which of
 * them are blocked (D32). The cells of existing records must be loaded first. Changes have no effect on the transaction
 * before {@link keep}.
 */
export class CellStates extends StoredTargets {
  readonly #known: KnownCells
  readonly #own = new Map<number, CellFacts & CellPlace>()
  /** Records with a change in a cell or its inputs. */
  readonly #touched = new Set<RecordKey>()
  /** Cells with another value, with null all of a record, where reviews may end. */
  #changed: ChangedValue[] = []
  /** The ids of the targets whose queries read what the operation has changed. */
  readonly #changedReads = new Set<number>()

  constructor(known: KnownCells) {
    super(known.targets)
    this.#known = known
  }

  /** Reads the states of all cells of these records. */
  load(records: readonly RecordKey[]): Promise<void> {
    return this.#known.load(records)
  }

  cell(target: StoredTarget, record: RecordKey): CellRow {
    const { cell, todo } = this.#facts(target, record)
    return {
      hash: cell?.hash ?? null,
      overridden: cell?.hash === null,
      todo: todo?.state ?? null,
      version: versionOf(cell?.mark, todo?.mark, target.changed),
    }
  }

  /** Applies the creation of a record: its derived cells are missing, or overridden where they have a value (D2). */
  created(record: RecordKey, value: (field: string) => JsonValue, seq: number): void {
    this.#known.created(record)
    this.#changeRead(null)
    for (const target of this.targets) {
      if (value(target.field) !== null) this.#override(target, record, seq)
      else this.#put(target, record, { ...NOTHING, todo: todoOf(MISSING, seq) })
    }
  }

  /** Applies the deletion of a record and its cells. */
  deleted(record: RecordKey): void {
    this.#changeRead(null)
    this.#change(record, null)
    for (const target of this.targets) this.#put(target, record, NOTHING)
  }

  /** Applies a manual write of a derived field, or its revert: a value overrides the cell, null ends that (D28). */
  writtenByHand(target: StoredTarget, record: RecordKey, write: { hasValue: boolean; seq: number }): void {
    if (write.hasValue) this.#override(target, record, write.seq)
    else this.#put(target, record, { ...NOTHING, todo: todoOf(MISSING, write.seq) })
  }

  /**
   * Applies the revert to a computed value. The cell becomes fresh if it was fresh with the same hash; otherwise its inputs
   * may have changed since, and it becomes stale, which the next run resolves (D32). A failure of the cell is deleted.
   */
  restored(target: StoredTarget, record: RecordKey, { hash, seq }: { hash: Uint8Array; seq: number }): void {
    const before = this.cell(target, record)
    const known = before.hash !== null && Buffer.compare(before.hash, hash) === 0
    const fresh = known && before.todo === null
    const todo = fresh ? null : todoOf(STALE, seq)
    this.#put(target, record, { cell: { hash, mark: seq }, todo, failure: null })
  }

  /** Applies a new value of a field: its review ends, and cells computed from it become stale. */
  inputWritten(field: string, record: RecordKey, seq: number): void {
    this.#touched.add(record)
    this.#changeRead(field)
    this.#change(record, field)
    for (const target of this.computedFrom(field)) {
      const facts = this.#facts(target, record)
      const { cell, todo } = facts
      if (cell?.hash === null) {
        this.#put(target, record, { ...facts, cell: { hash: null, mark: seq } })
      } else if (todo !== null) {
        this.#put(target, record, { ...facts, todo: { ...todo, mark: seq } })
      } else if (cell !== null) {
        this.#put(target, record, { ...facts, todo: todoOf(STALE, seq) })
      }
    }
  }

  /**
   * Applies a computed value. `current` is false when the derivation file has changed during the run: the cell is stale at
   * once.
   */
  computed(
    target: StoredTarget,
    record: RecordKey,
    { hash, seq, current }: { hash: Uint8Array; seq: number; current: boolean },
  ): void {
    const todo = current ? null : todoOf(STALE, seq)
    this.#put(target, record, { cell: { hash, mark: seq }, todo, failure: null })
  }

  /** Makes a cell fresh whose inputs equal those of its last success. */
  unchanged(target: StoredTarget, record: RecordKey): void {
    this.#put(target, record, { ...this.#facts(target, record), todo: null, failure: null })
  }

  /**
   * Makes a fresh computed cell stale though neither it nor an input was written: a computation under way remains valid
   * (D28).
   */
  outdated(target: StoredTarget, record: RecordKey): void {
    const facts = this.#facts(target, record)
    const isFresh = facts.todo === null && (facts.cell?.hash ?? null) !== null
    if (isFresh) this.#put(target, record, { ...facts, todo: todoOf(STALE, 0) })
  }

  /** Forgets the failure of a failed cell, which becomes what it was before: stale, or missing if it was never computed. */
  skipped(target: StoredTarget, record: RecordKey): void {
    const { cell, todo } = this.#facts(target, record)
    if (todo?.state !== FAILED) return
    const state = cell === null ? MISSING : STALE
    this.#put(target, record, { cell, todo: todoOf(state, todo.mark), failure: null })
  }

  /** Applies a failed computation. An overridden cell stays overridden. */
  failed(target: StoredTarget, record: RecordKey, failure: CellFailureNote): void {
    const { cell, todo } = this.#facts(target, record)
    if (cell?.hash === null) return
    this.#put(target, record, { cell, todo: todoOf(FAILED, todo?.mark ?? 0), failure })
  }

  reviewed(): void {
    this.#known.reviews.any = true
  }

  #change(record: RecordKey, field: string | null): void {
    if (this.#known.reviews.any) this.#changed.push({ record, field })
  }

  /** Passes the changes of this operation on to the transaction. `value` returns the values after this operation. */
  keep(value: (record: RecordKey, field: string) => JsonValue): void {
    for (const record of this.#touched) this.#findBlocked(record, (field) => value(record, field))
    this.#touched.clear()
    for (const target of this.#changedReads) this.#known.changeRead(target)
    this.#changedReads.clear()
    this.#known.endReviews(this.#changed)
    this.#changed = []
    for (const cell of this.#own.values()) this.#known.put(cell)
    this.#own.clear()
  }

  /** Determines which cells of a record are blocked, in the order of their dependencies. */
  #findBlocked(record: RecordKey, value: (field: string) => JsonValue): void {
    for (const target of this.#known.blockable) {
      const facts = this.#facts(target, record)
      if (facts.todo === null) continue
      const block = blockOf(needsOf(target), {
        value,
        pending: (field) => this.#pending(field, record),
      })
      const blocked = block !== null
      if (blocked !== facts.todo.blocked) {
        this.#put(target, record, { ...facts, todo: { ...facts.todo, blocked } })
      }
    }
  }

  /** Notes that a field has changed in a record, or with null the set of records. */
  #changeRead(field: string | null): void {
    for (const { id } of this.readersOf(field)) this.#changedReads.add(id)
  }

  #pending(field: string, record: RecordKey): PendingInput | undefined {
    const target = this.target(field)
    if (target?.active !== true) return undefined
    const { todo } = this.#facts(target, record)
    return pendingInput(todo?.state, todo?.blocked)
  }

  #facts({ id }: StoredTarget, record: RecordKey): CellFacts {
    return this.#own.get(placeOf(id, record)) ?? this.#known.facts(id, record)
  }

  #override(target: StoredTarget, record: RecordKey, seq: number): void {
    this.#put(target, record, { ...NOTHING, cell: { hash: null, mark: seq } })
  }

  #put({ id }: StoredTarget, record: RecordKey, { cell, todo, failure }: CellFacts): void {
    this.#own.set(placeOf(id, record), { target: id, record, cell, todo, failure })
    this.#touched.add(record)
  }
}

/** Returns a pending cell; whether it is blocked is determined at the end of the operation. */
function todoOf(state: TodoState, version: number): NonNullable<CellFacts['todo']> {
  return { state, mark: version, blocked: false }
}
