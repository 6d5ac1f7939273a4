import type { Contract } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { parseLine, readWhole } from '../../../provenance/log-line.ts'
import { NOTES } from '../../rows/log-tree.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { jsonBytes } from '../database/values.ts'
import { recordJsonExpression } from '../sql/json-columns.ts'
import { lineOf, WHOLE_LINE } from '../log/stored-line.ts'
import { beginReading, openInspected, storeError, type InspectedStore } from './other-store.ts'

/** Each line with the id of its record: a present one, a deleted one, or one of an imported log. */
const LINES = `SELECT ${WHOLE_LINE}, iif(record IS NULL, earlier_id, coalesce(
    (SELECT id FROM "$data" WHERE "$seq" = "$provenance".record),
    (SELECT record_id FROM "$deleted" WHERE "$deleted".record = "$provenance".record), '')) AS owner
  FROM "$provenance" WHERE seq > ? ORDER BY seq`

/** A line of the log, and the seq under which the table has it. */
export interface StoredText {
  readonly seq: number
  readonly text: string
  /** The parsed text; null when it is not a line of a provenance log. */
  readonly line: JsonObject | null
  /** The id of the record whose line it is in the table, null for none. */
  readonly owner: string | null
}

/**
 * The texts of a store in one state: the lines of its log and its records, as a snapshot has them. The store is only read, as {@link openInspected} describes it.
 */
export class StoreTexts {
  readonly contract: Contract
  /** The seq of the last line that was imported with the log of an earlier store; 0 for none. */
  readonly historyAfter: number
  readonly isShared: boolean
  readonly isUnchanged: () => boolean
  readonly #db: Connection

  private constructor({ db, isShared, isUnchanged }: InspectedStore) {
    this.contract = beginReading(db)
    this.historyAfter = Number(db.get('SELECT history_after FROM "$sheet"')?.['history_after'])
    this.isShared = isShared
    this.isUnchanged = () => isUnchanged()
    this.#db = db
  }

  /** Opens the store of a sheet's directory; null while it is locked. Throws RecordsError. */
  static open(directory: string): StoreTexts | null {
    return openInspected(directory, (store) => new StoreTexts(store))
  }

  /** Yields the lines of the log after a seq. Throws RecordsError. */
  *lines(after = 0): Generator<StoredText> {
    for (const row of this.#rows(LINES, after)) {
      const read = row['packed'] === null ? readWhole(String(row['line'])) : readText(lineOf(row))
      yield { seq: Number(row['seq']), ...read, owner: textOrNull(row['owner']) }
    }
  }

  /** Returns the texts of the checkpoints, in their order. Throws RecordsError. */
  checkpoints(): readonly string[] {
    try {
      return this.#db.query(NOTES)
    } catch (error) {
      throw storeError(error)
    }
  }

  /** Yields the records in creation order, as JSON. Throws RecordsError. */
  *records(): Generator<string> {
    const json = recordJsonExpression(this.contract.fields)
    for (const { line } of this.#rows(`SELECT CAST(${json} AS BLOB) AS line FROM "$data" ORDER BY "$seq"`)) {
      yield jsonBytes(line).toString()
    }
  }

  close(): void {
    this.#db.close()
  }

  *#rows(sql: string, ...params: readonly number[]): Generator<StoredRow> {
    try {
      yield* this.#db.db.prepare(sql).iterate(...params)
    } catch (error) {
      throw storeError(error)
    }
  }
}

function readText(text: string): Pick<StoredText, 'text' | 'line'> {
  return { text, line: parseLine(text) }
}
