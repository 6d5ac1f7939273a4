import type { Field } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { CellProvenance } from '../sheet-store.ts'
import { CellLog, type Life } from './cell-log.ts'
import type { Connection } from './connection.ts'

/** Works out, from the lines of the log, what happened to cells. */
export class ProvenanceReader {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** The entries of a cell, oldest first; just the latest unless `history` (D35). */
  read(recordId: string, field: Field, history: boolean): CellProvenance {
    const log = this.log(recordId, field)
    if (log === null) return { known: false }
    const entries = history ? log.back() : log.back().take(1)
    return { known: true, entries: entries.toArray().toReversed() }
  }

  /** The latest entry by which a cell was computed with an input hash; null when there is none. */
  computation(recordId: string, field: Field, inputHash: string): JsonObject | null {
    const entries = this.log(recordId, field)?.back()
    // A revert puts the hash of an earlier computation back, and computes nothing.
    return entries?.find((entry) => entry['input_hash'] === inputHash && entry['source'] !== 'revert') ?? null
  }

  /** What there is to read of a cell; null for a record that never existed. */
  log(recordId: string, field: Field): CellLog | null {
    const lives = this.#lives(recordId)
    return lives.length === 0 ? null : new CellLog(this.#db, { recordId, field, lives })
  }

  /** The lives of a record: deleted and created again, it has several. Oldest first; null for a log from before. */
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
