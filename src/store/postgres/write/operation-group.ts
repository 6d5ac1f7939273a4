import type { Contract } from '../../../contract/contract.ts'
import { CellCounts } from '../changes/cell-counts.ts'
import { ChangeSet, type SheetCounts } from '../changes/change-set.ts'
import type { ClientConnection, StoredRow } from '../database/connection.ts'
import { entryTimeOf } from '../database/database-clock.ts'
import { isConnectionFault, sqlState } from '../database/errors.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { KnownReviews } from '../changes/known-cells.ts'
import { PendingChanges } from '../changes/pending-changes.ts'
import type { FieldNumbers } from '../../rules/written/number-fields.ts'

/** A change of the store. If it throws, all of it is rolled back, and nothing else. */
export type Operation<T> = (change: ChangeSet) => Promise<T>

export interface OperationRequest {
  readonly operation: Operation<unknown>
  /** The records that it is about, when its changes all go through its change set; null when it may run any statement. */
  readonly ids: readonly string[] | null
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** The state from which a group starts. */
export interface GroupStart {
  readonly db: ClientConnection
  readonly contract: Contract
  /** The numbers of the fields of the contract. */
  readonly numbers: FieldNumbers
  readonly targets: readonly StoredTarget[]
  /** The columns that keep values of removed and converted fields. */
  readonly kept: readonly KeptColumn[]
  /** The row of `$sheet`, with the time of what is written; see `entryTimeOf`. */
  readonly sheet: StoredRow
  /** Whether it is the only operation, whose failure is that of the transaction. */
  readonly alone: boolean
}

/** The operations of one transaction; each is applied entirely or not at all, independently of the others. */
export class OperationGroup {
  readonly #start: GroupStart
  readonly #at: string
  readonly #before: SheetCounts
  readonly #reviews: KnownReviews
  #counts: SheetCounts
  readonly #cellCounts = new CellCounts()
  #losesWriters = false
  #pending: PendingChanges

  constructor(start: GroupStart) {
    this.#start = start
    this.#at = entryTimeOf(start.sheet)
    this.#before = countsOf(start.sheet)
    this.#counts = this.#before
    this.#reviews = { any: start.sheet['reviewed'] === true }
    this.#pending = this.#newPending()
  }

  /** Carries out operations in their order. Throws where the transaction cannot continue. */
  async carryOut(requests: readonly OperationRequest[]): Promise<readonly Outcome[]> {
    await this.#pending.load(requests.flatMap(({ ids }) => ids ?? []))
    const outcomes: Outcome[] = []
    for (const { operation, ids } of requests) {
      outcomes.push(ids === null ? await this.#anything(operation) : await this.#recordsOnly(operation))
    }
    await this.#flush()
    return outcomes
  }

  /** Number of lines that the operations have added to the log. */
  get lineCount(): number {
    return this.#counts.lastSeq - this.#before.lastSeq
  }

  /** Number of records after the operations. */
  get recordCount(): number {
    return this.#counts.records
  }

  /** Returns the statements that write the counters of the store, as the last ones. */
  countStatements(): readonly string[] {
    const { lastSeq, records, lastKey } = this.#counts
    const before = this.#before
    const same = before.lastSeq === lastSeq && before.records === records && before.lastKey === lastKey
    return [
      ...this.#cellCounts.statements(lastSeq),
      ...(this.#losesWriters ? ['DELETE FROM "$writer" WHERE parts = 0'] : []),
      ...(same
        ? []
        : [`UPDATE "$sheet" SET last_seq = ${lastSeq}, records = ${records}, last_record = ${lastKey}`]),
    ]
  }

  /** Carries out an operation that changes only its change set, which stays in memory for the next. */
  async #recordsOnly(operation: Operation<unknown>): Promise<Outcome> {
    const change = this.#changeSet()
    try {
      const value = await operation(change)
      change.keep()
      this.#counts = change.counts()
      return { value }
    } catch (error) {
      // A failed statement aborts the transaction.
      if (sqlState(error) !== undefined || isConnectionFault(error)) throw error
      return { error }
    }
  }

  /**
   * Carries out an operation that may run statements of its own: changes so far are flushed before it, and its own after
   * it.
   */
  async #anything(operation: Operation<unknown>): Promise<Outcome> {
    const { db, alone } = this.#start
    await this.#flush()
    if (!alone) await db.exec('SAVEPOINT operation')
    try {
      const change = this.#changeSet()
      const value = await operation(change)
      await change.flush()
      if (!alone) await db.exec('RELEASE operation')
      this.#counts = change.counts()
      await this.#flush()
      return { value }
    } catch (error) {
      if (alone || isConnectionFault(error)) throw error
      await db.exec('ROLLBACK TO operation; RELEASE operation')
      this.#pending = this.#newPending()
      return { error }
    }
  }

  async #flush(): Promise<void> {
    await this.#pending.flush()
    this.#cellCounts.add(this.#pending.counts)
    this.#losesWriters ||= this.#pending.losesWriters
    this.#pending = this.#newPending()
  }

  #changeSet(): ChangeSet {
    const { db, contract, kept } = this.#start
    return new ChangeSet({ db, contract, kept, pending: this.#pending, counts: this.#counts, at: this.#at })
  }

  #newPending(): PendingChanges {
    const { db, contract, numbers, targets } = this.#start
    return new PendingChanges({ db, contract, numbers, targets, reviews: this.#reviews })
  }
}

function countsOf(sheet: StoredRow): SheetCounts {
  return {
    lastSeq: Number(sheet['last_seq']),
    records: Number(sheet['records']),
    lastKey: Number(sheet['last_record']),
  }
}
