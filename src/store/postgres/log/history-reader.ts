import { PAGE_BYTES } from '../../page-bytes.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { readStoredInTurns } from '../../../provenance/log-line.ts'
import { jsonArray, noteValuesBefore } from '../../rows/past-values.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { EntryHead, HistoryRange, JsonBytes, PageAsOfQuery, PastPage } from '../../sheet-store.ts'
import { PastPlaces, RecentPlaces } from '../../rows/past-places.ts'
import { entryHead } from '../../rows/stored-rows.ts'
import { pastFields, type PastField, type RequestedField } from '../../fields/past-fields.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import type { Connection } from '../database/connection.ts'
import {
  changedSince,
  pastRecordsJson,
  selectionOf,
  type PresentValues,
  type Selection,
} from './past-record.ts'
import { longFieldsOf, longValues } from '../read/long-columns.ts'
import { lineOf, SHORT_LINE, timeOf } from './stored-line.ts'

/** The most records that one statement returns. */
const RECORDS_AT_ONCE = 500
/** The most lines that one statement returns, of all records together. */
const LINES_AT_ONCE = 1000
/** The most bytes of lines that one statement returns, beside its first line. */
const BYTES_AT_ONCE = 1 << 20
/** The most entries that one statement probes for a time. */
const PROBES = 16

/** Deleted keys that one statement looks up. */
const DELETED_AT_ONCE = 20_000

const DELETED_KEYS = `SELECT record AS key, (SELECT max(seq) FROM "$provenance" WHERE record = gone.record) AS deleted
  FROM "$deleted" AS gone WHERE record > $1 AND record <= $2 ORDER BY record LIMIT $3`

const NO_VALUES: ReadonlyMap<string, JsonValue> = new Map()

export type FieldsAsOf = Omit<PageAsOfQuery, 'fields'> & { readonly fields: readonly RequestedField[] }

/** A record whose later lines are being read. */
interface Undoing {
  readonly key: RecordKey
  /** Values of fields before the first later line that changes them. */
  readonly before: Map<string, JsonValue>
  /** The seq of the last line that was read. */
  from: number
  /** Number of lines that were read. */
  lines: number
}

/** A record as it was. */
interface PastRecord {
  readonly json: JsonBytes
  /** The fields that have another value now, where they were asked for; null for a record that was deleted since. */
  readonly changed: readonly string[] | null
}

const NO_RECORDS: ReadonlyMap<RecordKey, PastRecord> = new Map()

/** A key that a record has or had, and the JSON of a record that has not changed since; null for a changed one. */
interface FoundLife {
  readonly key: RecordKey
  readonly json: JsonBytes | null
}

/** Selects the key of the last record created by the seq $1, 0 for none: keys are in the order of creation. */
const LAST_KEY = `
  WITH RECURSIVE bounds(low, high) AS (
    SELECT 0::bigint, last_record FROM "$sheet"
    UNION ALL
    SELECT CASE WHEN created <= $1 THEN middle ELSE low END, CASE WHEN created <= $1 THEN high ELSE middle - 1 END
    FROM bounds
    CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS half
    CROSS JOIN LATERAL (SELECT coalesce(
      (SELECT seq FROM "$import" WHERE first <= middle AND last >= middle LIMIT 1),
      (SELECT min(seq) FROM "$provenance" WHERE record = middle)
    ) AS created) AS creation
    WHERE low < high
  ) SELECT low AS key FROM bounds WHERE low = high`

/**
 * Reconstructs records as they were right after an entry of the log, by undoing later entries.
 *
 * Each life of a record has a key, and keys are assigned in the order of creation: the records that existed at a seq are
 * those up to some key, without those deleted by then. A value is the one *before* the first later entry that changes its
 * field, or the present one when there is none.
 *
 * A result may therefore combine several statements despite writes between them, as long as a record is read before its
 * lines: lines are only added, with a higher seq; a new record gets a later key; and when a value that has been read is
 * overwritten, or its record is deleted, the line has it as `previous`.
 */
export class HistoryReader {
  readonly #db: Connection
  readonly #places = new RecentPlaces()

  constructor(db: Connection) {
    this.#db = db
  }

  async range(): Promise<HistoryRange> {
    const row = await this.#db.get(
      `SELECT "first", (SELECT max(seq) FROM "$provenance") AS "last",
         entry.seq, ${SHORT_LINE} AS line
       FROM (SELECT CASE history_after WHEN 0 THEN 0 ELSE history_after + 1 END AS "first" FROM "$sheet") AS sheet
       LEFT JOIN "$provenance" AS entry ON entry.seq = "first"`,
    )
    return {
      first: Number(row?.['first']),
      firstAt: row === undefined ? null : await timeOf(this.#db, row),
      last: Number(row?.['last'] ?? 0),
    }
  }

  /**
   * Returns the seq of the last entry that is not later than a time, 0 for none. Where the clock was set back, so that
   * entries are not in the order of their times: an entry that is not later and is followed by one that is, or by none.
   */
  async seqAt(time: string): Promise<number> {
    // Invariant: the entry `low`, or the one before it in a gap, is not later; entries above `high` are.
    let [low, high] = [0, (await this.range()).last]
    while (low < high) {
      const probes = probesOf(low, high)
      const rows = await this.#db.all(PROBED_ENTRIES, probes)
      const times = await Promise.all(rows.map((row) => timeOf(this.#db, row)))
      const later = times.findIndex((at) => at !== null && at > time)
      low = (later === -1 ? probes.at(-1) : probes[later - 1]) ?? low
      if (later !== -1) high = Number(rows[later]?.['seq']) - 1
    }
    const row = await this.#db.get('SELECT max(seq) AS seq FROM "$provenance" WHERE seq <= $1', low)
    return Number(row?.['seq'] ?? 0)
  }

  /** Returns the last entry up to a seq, or the first after it; null for none. */
  async head(seq: number, place: 'upTo' | 'after'): Promise<EntryHead | null> {
    const sought = place === 'upTo' ? 'seq <= $1 ORDER BY seq DESC' : 'seq > $1 ORDER BY seq'
    const row = await this.#db.get(
      `SELECT seq, ${SHORT_LINE} AS line FROM "$provenance" WHERE ${sought} LIMIT 1`,
      seq,
    )
    if (row === undefined) return null
    const line = await lineOf(this.#db, row)
    return entryHead(Number(row['seq']), line === null ? null : await readStoredInTurns(line))
  }

  /** Returns the number of records that existed. */
  async count(seq: number): Promise<number> {
    return (await this.#placesAt(seq)).count
  }

  #placesAt(seq: number): Promise<PastPlaces> {
    return this.#places.at(seq, async () => {
      const last = Number((await this.#db.get(LAST_KEY, seq))?.['key'])
      const deleted: number[] = []
      for (let from = 0; ;) {
        const rows = await this.#db.all(DELETED_KEYS, from, last, DELETED_AT_ONCE)
        for (const row of rows) if (Number(row['deleted']) <= seq) deleted.push(Number(row['key']))
        if (rows.length < DELETED_AT_ONCE) return new PastPlaces(last, Float64Array.from(deleted))
        from = Number(rows.at(-1)?.['key'])
      }
    })
  }

  /** Returns a past record; null when it did not exist. */
  async record(id: string, fields: readonly RequestedField[], seq: number): Promise<JsonBytes | null> {
    const key = await this.#keyAt(id, seq)
    if (key === null) return null
    const selection = await this.#selection(fields, seq)
    const { lives } = await this.#lives(selection, { after: key - 1, last: key, count: 1, seq })
    const [record] = await this.#asOf(selection, lives, { seq })
    return record?.json ?? null
  }

  /** Returns the number of records before one; null when it did not exist. */
  async position(id: string, seq: number): Promise<number | null> {
    const key = await this.#keyAt(id, seq)
    return key === null ? null : (await this.#placesAt(seq)).positionOf(key)
  }

  /** Returns the key of the last life of a record that had begun, the only one that can have existed; null for none. */
  async #keyAt(id: string, seq: number): Promise<RecordKey | null> {
    const life = await this.#db.get(
      `SELECT max(key) AS key FROM (
         SELECT record AS key FROM "$deleted" WHERE record_id = $2 UNION ALL SELECT "$seq" FROM "$data" WHERE id = $2
       ) AS lives WHERE key <= (${LAST_KEY})`,
      seq,
      id,
    )
    const key = life?.['key']
    return typeof key === 'number' ? key : null
  }

  /** Returns a page of the records that existed, in creation order. */
  async page({ fields, limit, after, skip = 0, seq, changed = false }: FieldsAsOf): Promise<PastPage> {
    const selection = await this.#selection(fields, seq)
    const last = Number((await this.#db.get(LAST_KEY, seq))?.['key'])
    const records: JsonBytes[] = []
    const changes: PastRecord['changed'][] = []
    const pageTo = (end: RecordKey | null): PastPage => ({
      records: jsonArray(records),
      next: end,
      ...(changed && { changed: changes }),
    })
    let bytes = 0
    let next: RecordKey = after ?? (skip === 0 ? 0 : (await this.#placesAt(seq)).keyBefore(skip))
    // One record more than requested shows whether another page follows.
    for (let from = next, count = Math.min(limit + 1, RECORDS_AT_ONCE); ; count = RECORDS_AT_ONCE) {
      const { lives, found } = await this.#lives(selection, { after: from, last, count, seq })
      const past = await this.#asOf(selection, lives, { seq, changed })
      for (const [index, record] of past.entries()) {
        if (record === null) continue
        bytes += record.json.length
        const isFull = records.length === limit || (records.length > 0 && bytes > PAGE_BYTES)
        if (isFull) return pageTo(next)
        records.push(record.json)
        changes.push(record.changed)
        next = lives[index]?.key ?? next
      }
      if (found < count && lives.length === found) return pageTo(null)
      from = lives.at(-1)?.key ?? last
    }
  }

  async #selection(fields: readonly RequestedField[], seq: number): Promise<Selection> {
    return selectionOf(pastFields(await this.#db.query(FIELD_CHANGES), fields, seq))
  }

  /** Reads values of a record by their fields, long ones as JSON text. */
  async #longValues(key: RecordKey, fields: readonly PastField[]): Promise<ReadonlyMap<string, JsonValue>> {
    const names = new Map(
      fields.flatMap(({ name, column }) => (column === null ? [] : [[column, name] as const])),
    )
    const columns = fields.flatMap(({ column, type }) => (column === null ? [] : [{ name: column, type }]))
    const values = await longValues(this.#db, key, columns)
    return new Map([...values].map(([column, value]) => [names.get(column) ?? column, value]))
  }

  /** Returns keys that records have or had, in order, and how many there would be if their records were smaller. */
  async #lives(
    { lives }: Selection,
    { after, last, count, seq }: { after: RecordKey; last: RecordKey; count: number; seq: number },
  ): Promise<{ readonly lives: readonly FoundLife[]; readonly found: number }> {
    const rows = await this.#db.all(lives, after, last, count, seq)
    const keys = rows.map(({ key, $json: json }) => ({
      key: Number(key),
      json: typeof json === 'string' ? Buffer.from(json) : null,
    }))
    return { lives: keys, found: Number(rows[0]?.['$found'] ?? 0) }
  }

  /**
   * Returns records that had been created as they were, with `changed` also the fields that have another value now; null for
   * one that had been deleted.
   */
  async #asOf(
    selection: Selection,
    lives: readonly FoundLife[],
    query: Pick<PageAsOfQuery, 'seq' | 'changed'>,
  ): Promise<(PastRecord | null)[]> {
    const comparesAll = query.changed === true && selection.moved.length > 0
    const changed = lives.filter(({ json }) => json === null || comparesAll).map(({ key }) => key)
    const past = changed.length === 0 ? NO_RECORDS : await this.#reconstruct(selection, changed, query)
    return lives.map(({ key, json }) => past.get(key) ?? (json === null ? null : { json, changed: [] }))
  }

  /** Returns those of these records that existed. */
  async #reconstruct(
    selection: Selection,
    changed: readonly RecordKey[],
    { seq, changed: isCompared = false }: Pick<PageAsOfQuery, 'seq' | 'changed'>,
  ): Promise<ReadonlyMap<RecordKey, PastRecord>> {
    const rows = new Map(
      (await this.#db.all(selection.columns, changed)).map((row) => [Number(row['$seq']), row]),
    )
    const long = new Map<RecordKey, ReadonlyMap<string, JsonValue>>()
    for (const [key, row] of rows) {
      const fields = longFieldsOf(row, selection.fields)
      if (fields.length > 0) long.set(key, await this.#longValues(key, fields))
    }
    const undone = await this.#undo(changed, selection, seq)
    // The last line of a deleted record is its deletion.
    const existed = undone.filter(({ key, lines }) => lines > 0 || rows.has(key))
    const facts = existed.map(({ key, before }) => ({
      row: rows.get(key),
      long: long.get(key) ?? NO_VALUES,
      before,
    }))
    const texts = await pastRecordsJson(this.#db, selection, facts)
    const present = isCompared ? await this.#presentValues(selection, changed) : null
    return new Map(
      existed.flatMap(({ key }, index) => {
        const [json, past] = [texts[index], facts[index]]
        if (json === undefined || past === undefined) return []
        const differing = present === null ? [] : changedSince(selection, past, present.get(key))
        return [[key, { json, changed: differing }] as const]
      }),
    )
  }

  /** Returns the present values of those of these records that still exist. */
  async #presentValues(
    { presentFields: fields, present }: Selection,
    keys: readonly RecordKey[],
  ): Promise<ReadonlyMap<RecordKey, PresentValues>> {
    const found = new Map<RecordKey, PresentValues>()
    for (const row of await this.#db.all(present, keys)) {
      const key = Number(row['$seq'])
      const isLong = longFieldsOf(row, fields).length > 0
      found.set(key, { row, long: isLong ? await longValues(this.#db, key, fields) : NO_VALUES })
    }
    return found
  }

  /** Returns the past values of the fields that later entries change, for each of these records. */
  async #undo(keys: readonly RecordKey[], { fields }: Selection, seq: number): Promise<Undoing[]> {
    const all = keys.map((key): Undoing => ({ key, before: new Map(), from: seq, lines: 0 }))
    for (let open = all; open.length > 0;) {
      const count = Math.max(1, Math.floor(LINES_AT_ONCE / open.length))
      const rows = await this.#db.all(
        LATER_LINES,
        open.map(({ key }) => key),
        open.map(({ from }) => from),
        count,
      )
      const read = new Map<Undoing, number>()
      const isCut = rows.length < Number(rows[0]?.['found'] ?? 0)
      for (const row of rows) {
        const undoing = open[Number(row['place']) - 1]
        if (undoing === undefined) continue
        const line = await lineOf(this.#db, row)
        noteValuesBefore(line === null ? null : await readStoredInTurns(line), fields, undoing.before)
        undoing.from = Number(row['seq'])
        undoing.lines += 1
        read.set(undoing, (read.get(undoing) ?? 0) + 1)
      }
      open = open.filter(
        (undoing) => (isCut || read.get(undoing) === count) && undoing.before.size < fields.length,
      )
    }
    return all
  }
}

/**
 * At most $3 lines of each of the records $1, each after its seq of $2; fewer where they are long. `found` is the number
 * without that limit.
 */
const LATER_LINES = `
  SELECT place, seq, ${SHORT_LINE} AS line, found FROM (
  SELECT place, seq, line, count(*) OVER () AS found, sum(octet_length(line)) OVER (ORDER BY place, seq) - octet_length(line) AS before FROM (
  SELECT wanted.place, later.seq, later.line FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS wanted(key, "from", place)
  CROSS JOIN LATERAL (
    SELECT seq, line FROM "$provenance" WHERE record = wanted.key AND seq > wanted."from" ORDER BY seq LIMIT $3
  ) AS later) AS lines) AS running WHERE before <= ${BYTES_AT_ONCE} ORDER BY place, seq`

/** The entry at each of these numbers, or the one before: an imported log may have gaps. */
const PROBED_ENTRIES = `
  SELECT entry.seq, ${SHORT_LINE} AS line FROM unnest($1::bigint[]) AS probe
  LEFT JOIN LATERAL (SELECT seq, line FROM "$provenance" WHERE seq <= probe ORDER BY seq DESC LIMIT 1) AS entry ON true
  ORDER BY probe`

/** Returns numbers above `low` that divide the range up to `high`, the last of them, into equal parts. */
function probesOf(low: number, high: number): number[] {
  const count = Math.min(PROBES, high - low)
  return Array.from({ length: count }, (_, index) => low + Math.ceil(((high - low) * (index + 1)) / count))
}
