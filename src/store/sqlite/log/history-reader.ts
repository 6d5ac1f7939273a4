import { PAGE_BYTES } from '../../page-bytes.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { jsonArray, noteValuesBefore } from '../../rows/past-values.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { EntryHead, HistoryRange, JsonBytes, PageAsOfQuery, PastPage } from '../../sheet-store.ts'
import { PastPlaces, RecentPlaces } from '../../rows/past-places.ts'
import { entryHead } from '../../rows/stored-rows.ts'
import { pastFields, type RequestedField } from '../../fields/past-fields.ts'
import { FIELD_CHANGES, LAST_FIELD_CHANGE } from '../../fields/stored-changes.ts'
import { fieldsChanged } from '../../revision-store.ts'
import type { Connection } from '../database/connection.ts'
import { lastSeq } from '../database/last-entry.ts'
import { changedSince, pastRecordJson, selectionOf, type Selection } from './past-record.ts'
import { jsonBytes } from '../database/values.ts'
import { parsedLineOf } from './stored-line.ts'

/** Records and lines that are read between two yields to other requests: a few milliseconds. */
const STEPS_AT_ONCE = 300
/** The most records, and lines of a record, that one statement returns. */
const ROWS_AT_ONCE = 200
/** Bytes of lines that are read at once, unless the first line alone has more. */
const BYTES_AT_ONCE = 1 << 20
/** Bytes of a record or a line that count as one record or line more. */
const BYTES_OF_STEP = 16 << 10

/** Deleted keys that one statement looks up. */
const DELETED_AT_ONCE = 200

const DELETED_KEYS = `SELECT record AS key, (SELECT max(seq) FROM "$provenance" WHERE record = "$deleted".record) AS deleted
  FROM "$deleted" WHERE record > ? AND record <= ? ORDER BY record LIMIT ?`

const LATER_LINES = `SELECT seq, line, octet_length(line) AS bytes FROM "$provenance" WHERE record = ? AND seq > ? ORDER BY seq LIMIT ?`

/**
 * A read that may take long: every `yield` is the number of records and lines read since the last, in which long ones count
 * several times.
 */
type Steps<T> = Generator<number, T, void>

/**
 * Returns the entries from which on the past is known; null where the first line has this many bytes or more, and is not
 * read.
 */
export function historyRange(db: Connection, mostBytes = Number.MAX_SAFE_INTEGER): HistoryRange | null {
  const row = db.get(
    `SELECT "first", (SELECT max(seq) FROM "$provenance") AS "last", octet_length(line) AS bytes, iif(octet_length(line) < ?, line, NULL) AS line
     FROM (SELECT iif(history_after = 0, 0, history_after + 1) AS "first" FROM "$sheet") LEFT JOIN "$provenance" ON seq = "first"`,
    mostBytes,
  )
  if (Number(row?.['bytes'] ?? 0) >= mostBytes) return null
  const at = parsedLineOf(row)?.['at']
  return {
    first: Number(row?.['first']),
    firstAt: typeof at === 'string' ? at : null,
    last: Number(row?.['last'] ?? 0),
  }
}

/** A record as it was. */
interface PastRecord {
  readonly json: JsonBytes
  /** The fields that have another value now, where they were asked for; null for a record that was deleted since. */
  readonly changed: readonly string[] | null
}

/** A selection, and the last change of fields when it was made. */
interface PresentSelection extends Selection {
  readonly fieldsSeq: number
}

export type FieldsAsOf = Omit<PageAsOfQuery, 'fields'> & { readonly fields: readonly RequestedField[] }

/**
 * Reconstructs records as they were right after an entry of the log, by undoing later entries.
 *
 * Each life of a record has a key, and keys are assigned in the order of creation: the records that existed at a seq are
 * those up to some key, without those deleted by then. A value is the one *before* the first later entry that changes its
 * field, or the present one when there is none.
 *
 * A result may therefore combine several reads despite writes between them: lines are only added, with a higher seq; a new
 * record gets a later key; and when a value that has been read is overwritten, or its record is deleted, the line has it as
 * `previous`.
 */
export class HistoryReader {
  readonly #db: Connection
  readonly #places = new RecentPlaces()

  constructor(db: Connection) {
    this.#db = db
  }

  /**
   * Returns the seq of the last entry that is not later than a time, 0 for none. Where the clock was set back, so that
   * entries are not in the order of their times: an entry that is not later and is followed by one that is, or by none.
   */
  seqAt(time: string): number {
    // Invariant: the entry `low`, or the one before it in a gap, is not later; entries above `high` are.
    let [low, high] = [0, lastSeq(this.#db)]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      // An imported log may have gaps.
      const entry = this.#db.get(
        'SELECT seq, line FROM "$provenance" WHERE seq <= ? ORDER BY seq DESC LIMIT 1',
        middle,
      )
      const at = parsedLineOf(entry)?.['at']
      if (typeof at === 'string' && at > time) high = Number(entry?.['seq']) - 1
      else low = middle
    }
    return Number(this.#db.get('SELECT max(seq) AS seq FROM "$provenance" WHERE seq <= ?', low)?.['seq'] ?? 0)
  }

  /** Returns the last entry up to a seq, or the first after it; null for none. */
  head(seq: number, place: 'upTo' | 'after'): EntryHead | null {
    const sought = place === 'upTo' ? 'seq <= ? ORDER BY seq DESC' : 'seq > ? ORDER BY seq'
    const row = this.#db.get(`SELECT seq, line FROM "$provenance" WHERE ${sought} LIMIT 1`, seq)
    return row === undefined ? null : entryHead(Number(row['seq']), parsedLineOf(row))
  }

  /** Returns the number of records that existed. */
  async count(seq: number): Promise<number> {
    return (await this.#placesAt(seq)).count
  }

  /** Returns the number of records before one; null when it did not exist. */
  async position(id: string, seq: number): Promise<number | null> {
    const key = this.#keyAt(id, seq)
    return key === null ? null : (await this.#placesAt(seq)).positionOf(key)
  }

  /** Returns a past record; null when it did not exist. */
  record(id: string, fields: readonly RequestedField[], seq: number): Promise<JsonBytes | null> {
    return this.#inTurns(this.#record(id, fields, seq))
  }

  /** Returns a page of the records that existed, in creation order. */
  async page({ skip = 0, ...query }: FieldsAsOf): Promise<PastPage> {
    const { seq } = query
    const start = query.after === null && skip > 0 ? (await this.#placesAt(seq)).keyBefore(skip) : query.after
    return this.#inTurns(this.#page({ ...query, after: start }))
  }

  #placesAt(seq: number): Promise<PastPlaces> {
    return this.#places.at(seq, () => this.#inTurns(this.#readPlaces(seq)))
  }

  *#readPlaces(seq: number): Steps<PastPlaces> {
    const last = this.#lastKeyAt(seq)
    const deleted: number[] = []
    for (let from = 0; ;) {
      const rows = this.#db.all(DELETED_KEYS, from, last, DELETED_AT_ONCE)
      for (const row of rows) if (Number(row['deleted']) <= seq) deleted.push(Number(row['key']))
      if (rows.length < DELETED_AT_ONCE) return new PastPlaces(last, Float64Array.from(deleted))
      from = Number(rows.at(-1)?.['key'])
      yield rows.length
    }
  }

  #selection(fields: readonly RequestedField[], seq: number): PresentSelection {
    const changes = this.#db.query(FIELD_CHANGES)
    return { ...selectionOf(pastFields(changes, fields, seq)), fieldsSeq: changes.at(-1)?.seq ?? 0 }
  }

  /** Makes some steps at a time, each group in one state of the store, and yields to other requests between them. */
  async #inTurns<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = this.#someOf(steps)
      if (step.done === true) return step.value
      await nextTurn()
    }
  }

  #someOf<T>(steps: Steps<T>): IteratorResult<number, T> {
    this.#db.exec('BEGIN')
    try {
      for (let taken = 0; ;) {
        const step = steps.next()
        if (step.done === true) return step
        taken += step.value
        if (taken >= STEPS_AT_ONCE) return step
      }
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  *#record(id: string, fields: readonly RequestedField[], seq: number): Steps<JsonBytes | null> {
    const key = this.#keyAt(id, seq)
    if (key === null) return null
    return (yield* this.#asOf(key, this.#selection(fields, seq), { seq }))?.json ?? null
  }

  /** Returns the key of the last life of a record that had begun, the only one that can have existed; null for none. */
  #keyAt(id: string, seq: number): RecordKey | null {
    const life = this.#db.get(
      `SELECT max(key) AS key FROM (
         SELECT record AS key FROM "$deleted" WHERE record_id = ?1 UNION ALL SELECT "$seq" FROM "$data" WHERE id = ?1
       ) WHERE key <= ?2`,
      id,
      this.#lastKeyAt(seq),
    )
    const key = life?.['key']
    return typeof key === 'number' ? key : null
  }

  *#page({ fields, ...query }: Omit<FieldsAsOf, 'skip'>): Steps<PastPage> {
    const { limit, after, seq } = query
    const selection = this.#selection(fields, seq)
    const last = this.#lastKeyAt(seq)
    const records: JsonBytes[] = []
    const changed: PastRecord['changed'][] = []
    const pageTo = (end: RecordKey | null): PastPage => ({
      records: jsonArray(records),
      next: end,
      ...(query.changed === true && { changed }),
    })
    let bytes = 0
    let next: RecordKey = after ?? 0
    // One record more than requested shows whether another page follows.
    for (let from = next, count = Math.min(limit + 1, ROWS_AT_ONCE); ; count = ROWS_AT_ONCE) {
      const keys = this.#keys(from, last, count)
      for (const key of keys) {
        const record = yield* this.#asOf(key, selection, query)
        const size = record?.json.length ?? 0
        yield 1 + Math.floor(size / BYTES_OF_STEP)
        if (record === null) continue
        bytes += size
        const isFull = records.length === limit || (records.length > 0 && bytes > PAGE_BYTES)
        if (isFull) return pageTo(next)
        records.push(record.json)
        changed.push(record.changed)
        next = key
      }
      if (keys.length < count) return pageTo(null)
      from = keys.at(-1) ?? last
    }
  }

  /** Returns keys that records have or had, in order. */
  #keys(after: RecordKey, last: RecordKey, count: number): RecordKey[] {
    return this.#db
      .all(
        `SELECT "$seq" AS key FROM "$data" WHERE "$seq" > ?1 AND "$seq" <= ?2
         UNION ALL SELECT record FROM "$deleted" WHERE record > ?1 AND record <= ?2 ORDER BY 1 LIMIT ?3`,
        after,
        last,
        count,
      )
      .map((row) => Number(row['key']))
  }

  /** Returns the key of the last record created by the seq; 0 for none. */
  #lastKeyAt(seq: number): RecordKey {
    let [low, high] = [0, Number(this.#db.get('SELECT last_record AS key FROM "$sheet"')?.['key'])]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#createdAt(middle) <= seq) low = middle
      else high = middle - 1
    }
    return low
  }

  #createdAt(key: RecordKey): number {
    const imported = this.#db.get('SELECT seq FROM "$import" WHERE first <= ?1 AND last >= ?1', key)
    const created =
      imported ?? this.#db.get('SELECT min(seq) AS seq FROM "$provenance" WHERE record = ?', key)
    return Number(created?.['seq'])
  }

  /**
   * Returns a record that had been created as it was, with `changed` also the fields that have another value now; null when
   * it had been deleted. Throws OutdatedDefinitionError when fields were renamed, removed or converted since the selection was made: no line
   * of a record has these.
   */
  *#asOf(
    key: RecordKey,
    selection: PresentSelection,
    { seq, changed = false }: Pick<PageAsOfQuery, 'seq' | 'changed'>,
  ): Steps<PastRecord | null> {
    if (this.#db.query(LAST_FIELD_CHANGE) !== selection.fieldsSeq) throw fieldsChanged()
    const unchanged = this.#db.get(selection.unchanged, key, seq)?.['$json']
    const isMoved = changed && selection.moved.length > 0
    if (unchanged instanceof Uint8Array && !isMoved) return { json: jsonBytes(unchanged), changed: [] }
    const row = this.#db.get(selection.columns, key)
    if (row === undefined && this.#lastEntry(key) <= seq) return null
    const before = yield* this.#valuesBefore(key, selection, seq)
    const facts = { row, before }
    const json = pastRecordJson(this.#db, selection, facts)
    if (!changed) return { json, changed: [] }
    return { json, changed: changedSince(selection, facts, this.#db.get(selection.present, key)) }
  }

  /** Returns the seq of the last entry of a record; for a deleted one that is its deletion. */
  #lastEntry(key: RecordKey): number {
    return Number(this.#db.get('SELECT max(seq) AS seq FROM "$provenance" WHERE record = ?', key)?.['seq'])
  }

  /** Returns the first lines of a record after a seq, with the seq of the last of them. */
  #laterLines(key: RecordKey, from: number): { lines: (JsonObject | null)[]; bytes: number; last: number } {
    const lines: (JsonObject | null)[] = []
    let [bytes, last] = [0, from]
    // Read to its end before other requests, which may run the same statement.
    for (const row of this.#db.prepare(LATER_LINES).iterate(key, from, ROWS_AT_ONCE)) {
      lines.push(parsedLineOf(row))
      last = Number(row['seq'])
      bytes += Number(row['bytes'])
      if (bytes > BYTES_AT_ONCE) break
    }
    return { lines, bytes, last }
  }

  /** Returns the past values of the fields that later entries change. */
  *#valuesBefore(key: RecordKey, { fields }: Selection, seq: number): Steps<Map<string, JsonValue>> {
    const values = new Map<string, JsonValue>()
    for (let from = seq; values.size < fields.length;) {
      const { lines, bytes, last } = this.#laterLines(key, from)
      for (const line of lines) noteValuesBefore(line, fields, values)
      from = last
      yield lines.length + Math.floor(bytes / BYTES_OF_STEP)
      if (lines.length < ROWS_AT_ONCE && bytes <= BYTES_AT_ONCE) break
    }
    return values
  }
}
