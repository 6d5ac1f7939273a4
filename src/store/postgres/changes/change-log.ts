import type { Contract, Field } from '../../../contract/contract.ts'
import type { CellLog } from '../../rules/cell-log.ts'
import type { ChangeLog, LoggedDeletion } from '../../rules/store-change.ts'
import type { DeletionRef } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { LogQueries, type EntryOfLife } from '../log/log-queries.ts'
import { readDeletions } from '../log/read-deletions.ts'

/** Reads the log for a change set. */
export class StoredLog implements ChangeLog {
  readonly #db: Connection
  readonly #contract: Contract
  readonly #queries: LogQueries

  constructor(db: Connection, contract: Contract) {
    this.#db = db
    this.#contract = contract
    this.#queries = new LogQueries(db)
  }

  cell(recordId: string, field: Field): Promise<CellLog | null> {
    return this.#queries.cell(recordId, field)
  }

  isOfLife(entry: EntryOfLife): Promise<boolean> {
    return this.#queries.isOfLife(entry)
  }

  deletions(refs: readonly DeletionRef[]): Promise<readonly (LoggedDeletion | null)[]> {
    return readDeletions({ db: this.#db, contract: this.#contract }, refs)
  }
}
