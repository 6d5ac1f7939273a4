import type { Contract } from '../../../contract/contract.ts'
import { CellCounts } from '../changes/cell-counts.ts'
import { ChangeSet, type SheetCounts } from '../changes/change-set.ts'
import type { ClientConnection, StoredRow } from '../database/connection.ts'
import { entryTimeOf } from '../database/database-clock.ts'
import { isConnectionFault, sqlState } from '../database/errors.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import { PendingChanges } from '../changes/pending-changes.ts'

/** Something that changes the store. What it throws takes all of it back, and nothing else. */
export type Operation<T> = (change: ChangeSet) => Promise<T>

export interface OperationRequest {
  readonly operation: Operation<unknown>
  /** The records that it is about, when all that it changes goes through its change set; null when it may do anything. */
  readonly ids: readonly string[] | null
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** What a group starts from. */
export interface GroupStart {
  /** The transaction. */
  readonly db: ClientConnection
  readonly contract: Contract
  readonly targets: readonly StoredTarget[]
  /** The row of `$sheet`, with the time of what is written; see `entryTimeOf`. */
  readonly sheet: StoredRow
  /** Whether there is one operation only, whose failure is that of the transaction. */
  readonly alone: boolean
}

/** The operations of one transaction; each happens whole or not at all, and the others go on either way. */
export class OperationGroup {
  readonly #start: GroupStart
  readonly #at: string
  readonly #before: SheetCounts
  #counts: SheetCounts
  readonly #cellCounts = new CellCounts()
  #pending: PendingChanges

  constructor(start: GroupStart) {
    this.#start = start
    this.#at = entryTimeOf(start.sheet)
    this.#before = countsOf(start.sheet)
    this.#counts = this.#before
    this.#pending = this.#newPending()
  }

  /** Carries out operations in their order. Throws where the transaction is of no use any more. */
  async carryOut(requests: readonly OperationRequest[]): Promise<readonly Outcome[]> {
    await this.#pending.load(requests.flatMap(({ ids }) => ids ?? []))
    const outcomes: Outcome[] = []
    for (const { operation, ids } of requests) {
      outcomes.push(ids === null ? await this.#anything(operation) : await this.#recordsOnly(operation))
    }
    await this.#flush()
    return outcomes
  }

  /** How many lines the operations have added to the log. */
  get lineCount(): number {
    return this.#counts.lastSeq - this.#before.lastSeq
  }

  /** How many records there are now. */
  get recordCount(): number {
    return this.#counts.records
  }

  /** The statements that write the counters of the store, once all else is written. */
  countStatements(): readonly string[] {
    const { lastSeq, records, lastKey } = this.#counts
    const before = this.#before
    const same = before.lastSeq === lastSeq && before.records === records && before.lastKey === lastKey
    return [
      ...this.#cellCounts.statements(),
      ...(same
        ? []
        : [`UPDATE "$sheet" SET last_seq = ${lastSeq}, records = ${records}, last_record = ${lastKey}`]),
    ]
  }

  /** One that changes nothing but by its change set: what it leaves stays in memory, for the next to go on from. */
  async #recordsOnly(operation: Operation<unknown>): Promise<Outcome> {
    const change = this.#changeSet()
    try {
      const value = await operation(change)
      change.keep()
      this.#counts = change.counts()
      return { value }
    } catch (error) {
      // A statement that fails takes the transaction with it.
      if (sqlState(error) !== undefined || isConnectionFault(error)) throw error
      return { error }
    }
  }

  /** One that may carry out statements of its own: it finds all written, and what it knows is nobody else's. */
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
    this.#pending = this.#newPending()
  }

  #changeSet(): ChangeSet {
    const { db, contract } = this.#start
    return new ChangeSet({ db, contract, pending: this.#pending, counts: this.#counts, at: this.#at })
  }

  #newPending(): PendingChanges {
    const { db, contract, targets } = this.#start
    return new PendingChanges(db, contract, targets)
  }
}

function countsOf(sheet: StoredRow): SheetCounts {
  return {
    lastSeq: Number(sheet['last_seq']),
    records: Number(sheet['records']),
    lastKey: Number(sheet['last_record']),
  }
}
