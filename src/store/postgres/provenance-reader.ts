import type { Field } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { CellProvenance } from '../sheet-store.ts'
import { cellLogOf, type CellLog } from './cell-log.ts'
import type { Database } from './database.ts'
import { LogQueries } from './log-queries.ts'

/** Works out, from the lines of the log, what happened to cells. */
export class ProvenanceReader {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** The entries of a cell, oldest first; just the latest unless `history` (D35). */
  read(recordId: string, field: Field, history: boolean): Promise<CellProvenance> {
    return this.#reading(recordId, field, async (log): Promise<CellProvenance> => {
      if (log === null) return { known: false }
      const entries: JsonObject[] = []
      for await (const entry of log.back()) {
        entries.push(entry)
        if (!history) break
      }
      return { known: true, entries: entries.toReversed() }
    })
  }

  /** The latest entry by which a cell was computed with an input hash; null when there is none. */
  computation(recordId: string, field: Field, inputHash: string): Promise<JsonObject | null> {
    return this.#reading(recordId, field, async (log) => {
      if (log === null) return null
      for await (const entry of log.back()) {
        // A revert puts the hash of an earlier computation back, and computes nothing.
        if (entry['input_hash'] === inputHash && entry['source'] !== 'revert') return entry
      }
      return null
    })
  }

  /** Reads what there is of a cell from one state of the store; null stands for a record that never existed. */
  #reading<T>(recordId: string, field: Field, read: (log: CellLog | null) => Promise<T>): Promise<T> {
    return this.#db.reading(async (db) => read(await cellLogOf(new LogQueries(db), { recordId, field })))
  }
}
