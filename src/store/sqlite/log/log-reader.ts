import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { rawValue } from '../../../contract/json/raw-json.ts'
import { readStoredInTurns, type StoredLine } from '../../../provenance/log-line.ts'
import type { Life } from '../../cell-entries.ts'
import type { RecordKey } from '../../cell-work.ts'
import {
  CellLog,
  type CellOfLife,
  type FoundLines,
  type LinesQuery,
  type LogSource,
  type OwnedLine,
  type PlacedLine,
} from '../../rules/cell-log.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import { noteValuesBefore } from '../../rows/past-values.ts'
import { spansOf } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES, LAST_FIELD_CHANGE, type StoredFieldChange } from '../../fields/stored-changes.ts'
import { fieldsChanged } from '../../revision-store.ts'
import type { Connection } from '../database/connection.ts'
import type { LongReads } from './reading-client.ts'
import { quoted } from '../database/schema.ts'
import { IMPORT_LINE } from './provenance-reader.ts'
import { LONG_BYTES, parsedLineOf, SHORT_LINE } from './stored-line.ts'
import { canBeId, fromColumn, jsonBytes } from '../database/values.ts'

/** The most lines that are read between two yields to other requests, and the most bytes of them, beside one line. */
const LINES_AT_ONCE = 500
const BYTES_AT_ONCE = 1 << 20

/** Queries between two yields to other requests. */
const QUESTIONS_AT_ONCE = 100

interface LogPlace {
  readonly db: Connection
  readonly long: LongReads
}

/**
 * Reads the log on the main thread, a few milliseconds at a time; the reading thread reads long lines and values. Lines are
 * only added, so that those up to the present last one are of one state, despite writes while they are read.
 */
export class LogReader implements LogSource {
  readonly #db: Connection
  readonly #last: number
  /** The last change of fields: the fields of the logs are of that time. */
  readonly #fieldsSeq: number
  readonly #long: LongReads
  readonly read: LogSource['read'] = readStoredInTurns
  #questions = 0

  constructor({ db, long }: LogPlace, changes: readonly StoredFieldChange[]) {
    this.#db = db
    this.#long = long
    this.#fieldsSeq = changes.at(-1)?.seq ?? 0
    this.#last = Number(db.get('SELECT max(seq) AS seq FROM "$provenance"')?.['seq'] ?? 0)
  }

  /** Returns the log of a cell; null for a record that never existed. */
  static cell(on: LogPlace, { recordId, field }: { readonly recordId: string; readonly field: Field }) {
    return LogReader.cells(on, { recordId, fields: [field] })?.[0] ?? null
  }

  /** Returns the logs of cells of a record; null for a record that never existed. */
  static cells(
    on: LogPlace,
    { recordId, fields }: { readonly recordId: string; readonly fields: readonly Field[] },
  ): readonly CellLog[] | null {
    if (!canBeId(recordId)) return null
    const row = on.db.get(LIVES, recordId)
    const keys = JSON.parse(String(row?.['keys'])) as RecordKey[]
    const lives: Life[] = row?.['earlier'] === 1 ? [null, ...keys] : keys
    if (lives.length === 0) return null
    const changes = on.db.query(FIELD_CHANGES)
    const log = new LogReader(on, changes)
    return fields.map((field) => {
      const spans = spansOf(changes, field.name)
      return new CellLog(log, { recordId, field, spans, lives })
    })
  }

  async lines(query: LinesQuery): Promise<FoundLines> {
    await this.#turn()
    const { found, rest } = this.#lines(query)
    if (rest !== null && found.length < query.limit) await nextTurn()
    const lines: PlacedLine[] = []
    for (const { seq, text } of found) {
      const line = text ?? (await this.#longLine(seq, query.life === null ? null : query.field))
      if (line !== null) lines.push({ seq, text: line })
    }
    return { lines, rest }
  }

  /** Returns the lines that were found, long ones without their text, and the seq from which there may be more. */
  #lines({ life, recordId, field, direction, seq, limit }: LinesQuery): {
    readonly found: readonly { readonly seq: number; readonly text: string | null }[]
    readonly rest: number | null
  } {
    const name = JSON.stringify(field)
    const [from, to] = direction === 'before' ? [0, Math.min(seq - 1, this.#last)] : [seq + 1, this.#last]
    const statement = this.#db.prepare(linesStatement(life === null ? 'earlier_id' : 'record', direction))
    const found: { seq: number; text: string | null }[] = []
    let [looked, bytes] = [0, 0]
    for (const row of statement.iterate(life ?? recordId, from, to, name, life === null ? 1 : 0)) {
      const at = Number(row['seq'])
      looked += 1
      bytes += Number(row['bytes'])
      if (row['found'] === 1) found.push({ seq: at, text: textOrNull(row['line']) })
      if (found.length === limit || looked === LINES_AT_ONCE || bytes > BYTES_AT_ONCE)
        return { found, rest: at }
    }
    return { found, rest: null }
  }

  /** Returns a long line, or null when it does not name the field; with null, any line. */
  #longLine(seq: number, field: string | null): Promise<Uint8Array | null> {
    return this.#long.call('line', { seq, containing: field === null ? null : JSON.stringify(field) })
  }

  async lineAt(seq: number): Promise<OwnedLine | null> {
    const row = this.#db.get(
      `SELECT record, earlier_id, ${SHORT_LINE} AS line FROM "$provenance" WHERE seq = ?`,
      seq,
    )
    if (row === undefined) return null
    const { record, earlier_id: earlierId } = row
    return {
      record: record === null ? null : Number(record),
      earlierId: earlierId === null ? null : String(earlierId),
      text: textOrNull(row['line']) ?? (await this.#longLine(seq, null)) ?? '',
    }
  }

  async firstLine(key: RecordKey): Promise<StoredLine | null> {
    await this.#turn()
    const row = this.#db.get(
      `SELECT seq, ${SHORT_LINE} AS line FROM "$provenance" WHERE record = ? ORDER BY seq LIMIT 1`,
      key,
    )
    if (row === undefined) return null
    return textOrNull(row['line']) ?? this.#longLine(Number(row['seq']), null)
  }

  async importLine(key: RecordKey): Promise<JsonObject | null> {
    await this.#turn()
    return parsedLineOf(this.#db.get(IMPORT_LINE, key))
  }

  /**
   * Returns the value before the first later line that changes it, or the present one. Throws OutdatedDefinitionError when fields were
   * renamed, removed or converted since: the column may have the values of another field, or of another type.
   */
  async currentValue({ key, field }: CellOfLife): Promise<JsonValue> {
    const values = new Map<string, JsonValue>()
    let seq = this.#last
    for (;;) {
      const later = this.#db.get(LATER_LINE, key, seq, JSON.stringify(field.name))
      if (later === undefined) {
        const row = this.#db.get(presentStatement(field), key)
        const value =
          row?.['isLong'] === 1 ? await this.#longValue(key, field) : fromColumn(field, row?.['value'])
        if (this.#db.query(LAST_FIELD_CHANGE) !== this.#fieldsSeq) throw fieldsChanged()
        // A line that was written meanwhile has the value before it.
        if (this.#db.get(LATER_LINE, key, seq, JSON.stringify(field.name)) === undefined) return value
        continue
      }
      seq = Number(later['seq'])
      const line = textOrNull(later['line']) ?? (await this.#longLine(seq, field.name))
      noteValuesBefore(line === null ? null : await this.read(line), [field], values)
      const value = values.get(field.name)
      if (value !== undefined) return value
    }
  }

  async #longValue(key: RecordKey, field: Field): Promise<JsonValue> {
    const { name, type } = field
    const json = await this.#long.call('values', { key, fields: [{ name, type }] })
    return json === null ? null : rawValue(jsonBytes(json).subarray(`{${JSON.stringify(name)}:`.length, -1))
  }

  async #turn(): Promise<void> {
    this.#questions += 1
    if (this.#questions % QUESTIONS_AT_ONCE === 0) await nextTurn()
  }
}

/** Returns SQL for whether a line may name a field; a long one is not searched. */
const MAY_NAME = (name: string): string =>
  `iif(octet_length(line) < ${LONG_BYTES}, instr(line, ${name}) > 0, 1)`

/** Selects the first line of a record after a seq that names a field. */
const LATER_LINE = `SELECT seq, ${SHORT_LINE} AS line FROM "$provenance"
  WHERE record = ? AND seq > ? AND ${MAY_NAME('?')} ORDER BY seq LIMIT 1`

/** Selects the present value of a field, null where it is long. */
function presentStatement({ name }: Field): string {
  const isLong = `octet_length(${quoted(name)}) >= ${LONG_BYTES}`
  return `SELECT ${isLong} AS "isLong", iif(${isLong}, NULL, ${quoted(name)}) AS "value" FROM "$data" WHERE "$seq" = ?`
}

/** Selects the lives of a record, oldest first, and whether an imported log has it. */
const LIVES = `SELECT EXISTS (SELECT 1 FROM "$provenance" WHERE earlier_id = ?1) AS earlier, (
    SELECT json_group_array(key ORDER BY key) FROM (
      SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION SELECT "$seq" FROM "$data" WHERE id = ?1
    )
  ) AS keys`

/**
 * Selects the lines of a life of a record between two seqs, and whether each may name the field: the store writes the names
 * of fields as JSON.stringify does. An imported log may escape them otherwise.
 */
function linesStatement(owner: 'record' | 'earlier_id', direction: LinesQuery['direction']): string {
  const found = `(?5 OR ${MAY_NAME('?4')})`
  return `SELECT seq, octet_length(line) AS bytes, ${found} AS found, iif(${found}, ${SHORT_LINE}, NULL) AS line FROM "$provenance"
    WHERE ${owner} = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq ${direction === 'before' ? 'DESC' : 'ASC'}`
}
