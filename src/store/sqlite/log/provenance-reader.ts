import type { Field } from '../../../contract/contract.ts'
import { CellLog, type Life } from './cell-log-reader.ts'
import type { Connection } from '../database/connection.ts'

/** Reads what happened to cells from the lines of the log, for the writing thread: it reads without pauses. */
export class ProvenanceReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** Returns the log of a cell; null for a record that never existed. */
  log(recordId: string, field: Field): CellLog | null {
    const lives = this.#lives(recordId)
    return lives.length === 0 ? null : new CellLog(this.#db, { recordId, field, lives })
  }

  /**
   * Returns the lives of a record, oldest first: deleted and recreated, it has several; null is that in an imported log.
   */
  #lives(recordId: string): Life[] {
    const earlier = this.#db.get('SELECT 1 FROM "$provenance" WHERE earlier_id = ? LIMIT 1', recordId)
    const keys = this.#db.all(
      'SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION SELECT "$seq" FROM "$data" WHERE id = ?1 ORDER BY 1',
      recordId,
    )
    const lives = keys.map((row) => Number(row['key']))
    return earlier === undefined ? lives : [null, ...lives]
  }
}
