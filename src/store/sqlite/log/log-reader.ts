import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { parseStoredInTurns } from '../../../provenance/log-line.ts'
import {
  CellLog,
  type CellOfLife,
  type FoundLines,
  type Life,
  type LinesQuery,
  type LogSource,
  type OwnedLine,
  type PlacedLine,
} from '../../cell-log.ts'
import type { RecordKey } from '../../cell-work.ts'
import { noteValuesBefore } from '../../rows/past-values.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { parsedLineOf, STORED_LINE, storedLineOf } from './stored-line.ts'
import { canBeId, fromColumn } from '../database/values.ts'

/** Lines that are looked at before other requests have their turn, and bytes of them, beside one line. */
const LINES_AT_ONCE = 500
const BYTES_AT_ONCE = 1 << 20

/** Questions that are answered before other requests have their turn. */
const QUESTIONS_AT_ONCE = 100

/**
 * The log for readers on the main thread, a few milliseconds at a time. Lines are only ever added, so that those up to the
 * last one of now are of one state, whatever is written while they are read.
 */
export class LogReader implements LogSource {
  readonly #db: Connection
  readonly #last: number
  #questions = 0

  constructor(db: Connection) {
    this.#db = db
    this.#last = Number(db.get('SELECT max(seq) AS seq FROM "$provenance"')?.['seq'] ?? 0)
  }

  /** What there is to read of a cell; null for a record that never existed. */
  static cell(db: Connection, recordId: string, field: Field): CellLog | null {
    if (!canBeId(recordId)) return null
    const row = db.get(LIVES, recordId)
    const keys = JSON.parse(String(row?.['keys'])) as RecordKey[]
    const lives: Life[] = row?.['earlier'] === 1 ? [null, ...keys] : keys
    return lives.length === 0 ? null : new CellLog(new LogReader(db), { recordId, field, lives })
  }

  async lines(query: LinesQuery): Promise<FoundLines> {
    await this.#turn()
    const found = this.#lines(query)
    if (found.rest !== null && found.lines.length < query.limit) await nextTurn()
    return found
  }

  #lines({ life, recordId, field, direction, seq, limit }: LinesQuery): FoundLines {
    const name = JSON.stringify(field)
    const [from, to] = direction === 'before' ? [0, Math.min(seq - 1, this.#last)] : [seq + 1, this.#last]
    const statement = this.#db.prepare(linesStatement(life === null ? 'earlier_id' : 'record', direction))
    const lines: PlacedLine[] = []
    let [looked, bytes] = [0, 0]
    for (const row of statement.iterate(life ?? recordId, from, to, name, life === null ? 1 : 0)) {
      const at = Number(row['seq'])
      looked += 1
      bytes += Number(row['bytes'])
      if (row['line'] !== null) lines.push({ seq: at, text: storedLineOf(row) })
      if (lines.length === limit || looked === LINES_AT_ONCE || bytes > BYTES_AT_ONCE)
        return { lines, rest: at }
    }
    return { lines, rest: null }
  }

  async lineAt(seq: number): Promise<OwnedLine | null> {
    const row = this.#db.get(
      `SELECT record, earlier_id, ${STORED_LINE} AS line FROM "$provenance" WHERE seq = ?`,
      seq,
    )
    if (row === undefined) return null
    const { record, earlier_id: earlierId } = row
    return {
      record: record === null ? null : Number(record),
      earlierId: earlierId === null ? null : String(earlierId),
      text: storedLineOf(row),
    }
  }

  async firstLine(key: RecordKey): Promise<string | null> {
    await this.#turn()
    const row = this.#db.get('SELECT line FROM "$provenance" WHERE record = ? ORDER BY seq LIMIT 1', key)
    return row === undefined ? null : String(row['line'])
  }

  async importLine(key: RecordKey): Promise<JsonObject | null> {
    await this.#turn()
    return parsedLineOf(
      this.#db.get(
        'SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= ?1 AND last >= ?1',
        key,
      ),
    )
  }

  /** The value before the first later line that says another, or that of now. */
  async currentValue({ key, field }: CellOfLife): Promise<JsonValue> {
    const values = new Map<string, JsonValue>()
    for (let seq = this.#last; ;) {
      const later = this.#db.get(LATER_LINE, key, seq, JSON.stringify(field.name))
      if (later === undefined) break
      noteValuesBefore(await parseStoredInTurns(storedLineOf(later)), [field], values)
      const value = values.get(field.name)
      if (value !== undefined) return value
      seq = Number(later['seq'])
    }
    const row = this.#db.get(`SELECT ${quoted(field.name)} AS value FROM "$data" WHERE "$seq" = ?`, key)
    return fromColumn(field, row?.['value'])
  }

  async #turn(): Promise<void> {
    this.#questions += 1
    if (this.#questions % QUESTIONS_AT_ONCE === 0) await nextTurn()
  }
}

/** The first line of a record after a seq that names a field. */
const LATER_LINE = `SELECT seq, ${STORED_LINE} AS line FROM "$provenance"
  WHERE record = ? AND seq > ? AND instr(line, ?) > 0 ORDER BY seq LIMIT 1`

/** The lives of a record, oldest first, and whether a log from before the store knows of it. */
const LIVES = `SELECT EXISTS (SELECT 1 FROM "$provenance" WHERE earlier_id = ?1) AS earlier, (
    SELECT json_group_array(key ORDER BY key) FROM (
      SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION SELECT "$seq" FROM "$data" WHERE id = ?1
    )
  ) AS keys`

/**
 * The lines of a life of a record between two seqs, those that do not name the field as null: the store writes the names of
 * fields as JSON.stringify does. A log that was there before the store may write them otherwise.
 */
function linesStatement(owner: 'record' | 'earlier_id', direction: LinesQuery['direction']): string {
  return `SELECT seq, octet_length(line) AS bytes, iif(?5 OR instr(line, ?4) > 0, ${STORED_LINE}, NULL) AS line FROM "$provenance"
    WHERE ${owner} = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq ${direction === 'before' ? 'DESC' : 'ASC'}`
}
