import type { Contract, Field } from '../../../contract/contract.ts'
import type { ChangeLog, LoggedDeletion } from '../../rules/store-change.ts'
import type { DeletionRef } from '../../sheet-store.ts'
import { canBeId } from '../database/values.ts'
import type { CellLog } from '../../rules/cell-log.ts'
import { isOfLife, type EntryOfLife } from '../log/life-entries.ts'
import { ProvenanceReader } from '../log/provenance-reader.ts'
import { readDeletion } from '../log/read-deletion.ts'
import type { Connection } from '../database/connection.ts'

/** Reads the log for a change set, whose own lines are inserted into the table first. */
export class StoredLog implements ChangeLog {
  readonly #db: Connection
  readonly #contract: Contract
  readonly #insertLines: () => void

  constructor(
    { db, contract }: { readonly db: Connection; readonly contract: Contract },
    insertLines: () => void,
  ) {
    this.#db = db
    this.#contract = contract
    this.#insertLines = insertLines
  }

  cell(recordId: string, field: Field): CellLog | null {
    this.#insertLines()
    return canBeId(recordId) ? new ProvenanceReader(this.#db).log(recordId, field) : null
  }

  isOfLife(entry: EntryOfLife): boolean {
    this.#insertLines()
    return isOfLife(this.#db, entry)
  }

  deletions(refs: readonly DeletionRef[]): readonly (LoggedDeletion | null)[] {
    this.#insertLines()
    return refs.map((ref) => readDeletion({ db: this.#db, contract: this.#contract }, ref))
  }
}
