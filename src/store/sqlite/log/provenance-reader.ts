import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { parseStored, type StoredLine } from '../../../provenance/log-line.ts'
import type { Life } from '../../cell-entries.ts'
import type { RecordKey } from '../../cell-work.ts'
import {
  CellLog,
  type CellOfLife,
  type FoundLines,
  type LinesQuery,
  type LogSource,
  type OwnedLine,
} from '../../rules/cell-log.ts'
import type { Connection } from '../database/connection.ts'
import { spansOf } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
import { parsedLineOf } from './stored-line.ts'

/** The most characters of lines that one query returns, beside the last line. */
const LENGTH_AT_ONCE = 1 << 20

/** Reads what happened to cells from the lines of the log, for the writing thread: it reads without pauses. */
export class ProvenanceReader implements LogSource {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** Returns the log of a cell; null for a record that never existed. */
  log(recordId: string, field: Field): CellLog | null {
    const lives = this.#lives(recordId)
    if (lives.length === 0) return null
    const spans = spansOf(this.#db.query(FIELD_CHANGES), field.name)
    return new CellLog(this, { recordId, field, spans, lives })
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

  read(line: StoredLine): JsonObject | null {
    return parseStored(String(line))
  }

  lines({ life, recordId, field, direction, seq, limit }: LinesQuery): FoundLines {
    const lines: { seq: number; text: string }[] = []
    let length = 0
    // The store writes the names of fields as JSON.stringify does; an imported log may escape them otherwise.
    const statement = this.#db.prepare(life === null ? EARLIER_LINES[direction] : LINES_OF_FIELD[direction])
    const rows =
      life === null ? statement.iterate(recordId, seq) : statement.iterate(life, seq, JSON.stringify(field))
    for (const row of rows) {
      const line = { seq: Number(row['seq']), text: String(row['line']) }
      lines.push(line)
      length += line.text.length
      if (lines.length === limit || length > LENGTH_AT_ONCE) return { lines, rest: line.seq }
    }
    return { lines, rest: null }
  }

  lineAt(seq: number): OwnedLine | null {
    const row = this.#db.get('SELECT record, earlier_id, line FROM "$provenance" WHERE seq = ?', seq)
    if (row === undefined) return null
    const { record, earlier_id: earlierId, line } = row
    return {
      record: record === null ? null : Number(record),
      earlierId: earlierId === null ? null : String(earlierId),
      text: String(line),
    }
  }

  firstLine(key: RecordKey): StoredLine | null {
    const row = this.#db.get('SELECT line FROM "$provenance" WHERE record = ? ORDER BY seq LIMIT 1', key)
    return row === undefined ? null : String(row['line'])
  }

  importLine(key: RecordKey): JsonObject | null {
    return parsedLineOf(this.#db.get(IMPORT_LINE, key))
  }

  currentValue({ key, field }: CellOfLife): JsonValue {
    const column = quoted(field.name)
    const row = this.#db.get(`SELECT ${column} AS value FROM "$data" WHERE "$seq" = ?`, key)
    return fromColumn(field, row?.['value'])
  }
}

/** Selects the line of the import that created a record. */
export const IMPORT_LINE =
  'SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= ?1 AND last >= ?1'

const BEFORE = 'seq < ?2 ORDER BY seq DESC'
const AFTER = 'seq > ?2 ORDER BY seq'

/** Select lines of a life of a record, nearest first, nearly all of which concern the field. */
const OF_FIELD = 'SELECT seq, line FROM "$provenance" WHERE record = ?1 AND instr(line, ?3) > 0'
const LINES_OF_FIELD = { before: `${OF_FIELD} AND ${BEFORE}`, after: `${OF_FIELD} AND ${AFTER}` }

/** Select lines of an imported log. */
const EARLIER = 'SELECT seq, line FROM "$provenance" WHERE earlier_id = ?1'
const EARLIER_LINES = { before: `${EARLIER} AND ${BEFORE}`, after: `${EARLIER} AND ${AFTER}` }
