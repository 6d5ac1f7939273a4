import type { Field } from '../../../contract/contract.ts'
import type { CellLog } from '../../cell-log.ts'
import type { Database } from '../database/database.ts'
import { logOfCell } from './log-of-cell.ts'
import { KEEP_JSON, LogQueries } from './log-queries.ts'

/** Reads what happened to cells from the lines of the log. */
export class ProvenanceReader {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Reads the log of a cell in one state of the store; null for a record that never existed. */
  async read<T>(recordId: string, field: Field, read: (log: CellLog) => Promise<T>): Promise<T | null> {
    return this.#db.reading(async (db) => {
      const log = await logOfCell(new LogQueries(db, KEEP_JSON), recordId, field)
      return log === null ? null : read(log)
    })
  }
}
