import type { Field } from '../../../contract/contract.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { parseStoredJsonInTurns } from '../../../contract/json/json-text.ts'
import { RawJson, rawValue } from '../../../contract/json/raw-json.ts'
import {
  parseLine,
  parseStoredInTurns,
  readStoredInTurns,
  type StoredLine,
} from '../../../provenance/log-line.ts'
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
import { spansOf } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES, type StoredFieldChange } from '../../fields/stored-changes.ts'
import { restoredFrom } from '../../rules/logged-deletion.ts'
import { Batcher } from '../database/batcher.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { canBeId } from '../database/values.ts'
import { fieldValue } from '../database/values.ts'
import { columnsUnlessLong, longFieldsOf, longValues } from '../read/long-columns.ts'
import { lineOf, LONG_BYTES, SHORT_LINE } from './stored-line.ts'

/** An entry and a life of a record. */
export interface EntryOfLife {
  readonly seq: number
  readonly key: RecordKey
}

/** Parsers of lines of the log and of JSON values. */
interface LogParsers {
  readonly line: LogSource['read']
  value(json: Buffer): JsonValue | Promise<JsonValue>
}

const PARSE: LogParsers = {
  line: parseStoredInTurns,
  value: async (json) => (await parseStoredJsonInTurns(json)) as JsonValue,
}

/** Parsers for values that are only serialized: long ones stay JSON text. */
export const KEEP_JSON: LogParsers = { line: readStoredInTurns, value: rawValue }

/**
 * Queries of the log about cells. Queries for many cells that are made together share statements; so all are for one
 * connection, and for a state of the store in which the log does not change.
 */
export class LogQueries implements LogSource {
  readonly read: LogSource['read']
  /** The lives of a record, oldest first: deleted and recreated, it has several. */
  readonly #lives: Batcher<string, FoundLives>
  readonly #lines: Readonly<Record<LinesQuery['direction'], Batcher<LinesQuery, FoundLines>>>
  readonly #earlierLines: Readonly<Record<LinesQuery['direction'], Batcher<LinesQuery, FoundLines>>>
  readonly #lineAt: Batcher<number, OwnedLine | null>
  readonly #firstLine: Batcher<RecordKey, StoredLine | null>
  readonly #importLine: Batcher<RecordKey, JsonObject | null>
  readonly #ofLife: Batcher<EntryOfLife, boolean>
  readonly #value: Batcher<CellOfLife, JsonValue>
  readonly #parse: LogParsers['value']

  constructor(db: Connection, parsers: LogParsers = PARSE) {
    this.read = parsers.line
    this.#parse = parsers.value
    this.#lives = new Batcher((ids) => readLives(db, ids))
    const ofLines = (direction: LinesQuery['direction']): Batcher<LinesQuery, FoundLines> =>
      new Batcher((wanted) => readLines(db, wanted, direction))
    const ofEarlier = (direction: LinesQuery['direction']): Batcher<LinesQuery, FoundLines> =>
      new Batcher((wanted) => readEarlierLines(db, wanted, direction))
    this.#lines = { before: ofLines('before'), after: ofLines('after') }
    this.#earlierLines = { before: ofEarlier('before'), after: ofEarlier('after') }
    this.#lineAt = new Batcher((seqs) => readLinesAt(db, seqs))
    this.#firstLine = new Batcher((keys) => readFirstLines(db, keys))
    this.#importLine = new Batcher((keys) => readImportLines(db, keys))
    this.#ofLife = new Batcher((wanted) => readOfLife(db, wanted))
    this.#value = new Batcher((wanted) => readValues(db, wanted))
  }

  /** Returns the log of a cell; null for a record that never existed. */
  async cell(recordId: string, field: Field): Promise<CellLog | null> {
    return (await this.cells(recordId, [field]))?.[0] ?? null
  }

  /** Returns the logs of cells of a record; null for a record that never existed. */
  async cells(recordId: string, fields: readonly Field[]): Promise<readonly CellLog[] | null> {
    if (!canBeId(recordId)) return null
    const { lives, changes } = await this.#lives.run(recordId)
    if (lives.length === 0) return null
    return fields.map(
      (field) => new CellLog(this, { recordId, field, spans: spansOf(changes, field.name), lives }),
    )
  }

  lines(wanted: LinesQuery): Promise<FoundLines> {
    return (wanted.life === null ? this.#earlierLines : this.#lines)[wanted.direction].run(wanted)
  }

  lineAt(seq: number): Promise<OwnedLine | null> {
    return this.#lineAt.run(seq)
  }

  /** Returns the line by which a record was created; null for an imported one. */
  firstLine(key: RecordKey): Promise<StoredLine | null> {
    return this.#firstLine.run(key)
  }

  /** Returns the line of the import that created a record; null for any other. */
  importLine(key: RecordKey): Promise<JsonObject | null> {
    return this.#importLine.run(key)
  }

  /**
   * Whether an entry belongs to this life of its record, or to the one whose deletion was reverted to begin it. An import
   * line belongs to no single record.
   */
  async isOfLife({ seq, key }: EntryOfLife): Promise<boolean> {
    for (let life: RecordKey | null = key; life !== null; life = await this.#lifeBefore(life)) {
      if (await this.#ofLife.run({ seq, key: life })) return true
    }
    return false
  }

  /** Returns the previous life of a restored record; null for a record that was not restored. */
  async #lifeBefore(key: RecordKey): Promise<RecordKey | null> {
    const first = await this.firstLine(key)
    const deletion = restoredFrom(first === null ? null : await parseStoredInTurns(first))
    const record = deletion === null ? null : ((await this.lineAt(deletion))?.record ?? null)
    return record !== null && record < key ? record : null
  }

  /** Returns the present value of a cell; null for a deleted record. */
  async currentValue(cell: CellOfLife): Promise<JsonValue> {
    const value: unknown = await this.#value.run(cell)
    return value instanceof RawJson ? this.#parse(value.bytes) : (value as JsonValue)
  }
}

/** The lives of a record, and the changes of the fields of the sheet. */
interface FoundLives {
  readonly lives: Life[]
  readonly changes: readonly StoredFieldChange[]
}

async function readLives(db: Connection, ids: readonly string[]): Promise<FoundLives[]> {
  const rows = await db.all(
    `SELECT EXISTS (SELECT FROM "$provenance" WHERE earlier_id = wanted.id) AS earlier,
       to_json(ARRAY(
         SELECT record FROM "$deleted" WHERE record_id = wanted.id UNION SELECT "$seq" FROM "$data" WHERE id = wanted.id ORDER BY 1
       )) AS keys,
       CASE place WHEN 1 THEN (SELECT json_agg(json_build_object('seq', seq, 'change', "change") ORDER BY seq) FROM "$field_change") END AS changes
     FROM unnest($1::text[]) WITH ORDINALITY AS wanted(id, place) ORDER BY place`,
    ids,
  )
  const stored = rows[0]?.['changes']
  const changes = typeof stored === 'string' ? FIELD_CHANGES.result(JSON.parse(stored) as StoredRow[]) : []
  return rows.map(({ earlier, keys }) => {
    const lives = JSON.parse(String(keys)) as RecordKey[]
    return { lives: earlier === true ? [null, ...lives] : lives, changes }
  })
}

/** The most bytes of lines that are read for one query at once, beside the first line. */
const BYTES_AT_ONCE = 1 << 20

/**
 * Returns a statement for the lines that meet a condition before or after a seq: a given number, and fewer where they are
 * long.
 */
function nearestLines(condition: string, direction: LinesQuery['direction']): string {
  const [comparison, order] = direction === 'before' ? ['<', 'DESC'] : ['>', 'ASC']
  return `SELECT seq, ${SHORT_LINE} AS line, found FROM (
      SELECT seq, line, count(*) OVER () AS found, sum(octet_length(line)) OVER (ORDER BY seq ${order}) - octet_length(line) AS bytes FROM (
        SELECT seq, line FROM "$provenance"
        WHERE ${condition} AND seq ${comparison} wanted.seq ORDER BY seq ${order} LIMIT wanted.count
      ) AS nearest
    ) AS lines WHERE bytes <= ${BYTES_AT_ONCE}`
}

/** Reads lines by the names of fields as JSON.stringify writes them, so that a long log of other fields costs little. */
async function readLines(
  db: Connection,
  wanted: readonly LinesQuery[],
  direction: LinesQuery['direction'],
): Promise<FoundLines[]> {
  const rows = await db.all(
    `SELECT wanted.place, found.seq, found.line, found.found
     FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS wanted(record, name, seq, count, place)
     CROSS JOIN LATERAL (
       ${nearestLines('record = wanted.record AND strpos(line, wanted.name) > 0', direction)}
     ) AS found ORDER BY wanted.place, found.seq ${direction === 'before' ? 'DESC' : 'ASC'}`,
    wanted.map(({ life }) => life),
    wanted.map(({ field }) => JSON.stringify(field)),
    wanted.map(({ seq }) => seq),
    wanted.map(({ limit }) => limit),
  )
  return byPlace(db, rows, wanted)
}

/** Reads all lines of an imported log, in which names may be escaped otherwise. */
async function readEarlierLines(
  db: Connection,
  wanted: readonly LinesQuery[],
  direction: LinesQuery['direction'],
): Promise<FoundLines[]> {
  const rows = await db.all(
    `SELECT wanted.place, found.seq, found.line, found.found
     FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS wanted(id, seq, count, place)
     CROSS JOIN LATERAL (
       ${nearestLines('earlier_id = wanted.id', direction)}
     ) AS found ORDER BY wanted.place, found.seq ${direction === 'before' ? 'DESC' : 'ASC'}`,
    wanted.map(({ recordId }) => recordId),
    wanted.map(({ seq }) => seq),
    wanted.map(({ limit }) => limit),
  )
  return byPlace(db, rows, wanted)
}

async function byPlace(
  db: Connection,
  rows: readonly StoredRow[],
  wanted: readonly LinesQuery[],
): Promise<FoundLines[]> {
  const texts = await linesOf(db, rows)
  const lines: PlacedLine[][] = wanted.map(() => [])
  const found = wanted.map(() => 0)
  for (const [index, { place, seq, found: count }] of rows.entries()) {
    lines[Number(place) - 1]?.push({ seq: Number(seq), text: texts[index] ?? '' })
    found[Number(place) - 1] = Number(count)
  }
  return wanted.map(({ limit }, index) => {
    const read = lines[index] ?? []
    const isAll = read.length === found[index] && read.length < limit
    return { lines: read, rest: isAll ? null : (read.at(-1)?.seq ?? null) }
  })
}

async function linesOf(db: Connection, rows: readonly StoredRow[]): Promise<(StoredLine | null)[]> {
  const lines: (StoredLine | null)[] = []
  for (const row of rows) lines.push(await lineOf(db, row))
  return lines
}

async function readLinesAt(db: Connection, seqs: readonly number[]): Promise<(OwnedLine | null)[]> {
  const rows = await db.all(
    `SELECT seq, record, earlier_id, ${SHORT_LINE} AS line FROM "$provenance" WHERE seq = ANY($1::bigint[])`,
    seqs,
  )
  const texts = await linesOf(db, rows)
  const lines = new Map(
    rows.map(({ seq, record, earlier_id: earlierId }, index) => [
      Number(seq),
      {
        record: typeof record === 'number' ? record : null,
        earlierId: typeof earlierId === 'string' ? earlierId : null,
        text: texts[index] ?? '',
      },
    ]),
  )
  return seqs.map((seq) => lines.get(seq) ?? null)
}

async function readFirstLines(db: Connection, keys: readonly RecordKey[]): Promise<(StoredLine | null)[]> {
  const rows = await db.all(
    `SELECT first.seq, ${SHORT_LINE} AS line FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted(key, place)
     LEFT JOIN LATERAL (SELECT seq, line FROM "$provenance" WHERE record = wanted.key ORDER BY seq LIMIT 1) AS first ON true
     ORDER BY place`,
    keys,
  )
  return linesOf(db, rows)
}

async function readImportLines(db: Connection, keys: readonly RecordKey[]): Promise<(JsonObject | null)[]> {
  const rows = await db.all(
    `SELECT (SELECT line FROM "$import" JOIN "$provenance" USING (seq) WHERE first <= wanted.key AND last >= wanted.key LIMIT 1) AS line
     FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted(key, place) ORDER BY place`,
    keys,
  )
  return rows.map(parsedLine)
}

function parsedLine({ line }: StoredRow): JsonObject | null {
  return typeof line === 'string' ? parseLine(line) : null
}

async function readOfLife(db: Connection, wanted: readonly EntryOfLife[]): Promise<boolean[]> {
  const rows = await db.all(
    `SELECT EXISTS (SELECT FROM "$provenance" WHERE seq = wanted.seq AND record = wanted.key)
       OR EXISTS (SELECT FROM "$import" WHERE seq = wanted.seq AND first <= wanted.key AND last >= wanted.key) AS found
     FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS wanted(seq, key, place) ORDER BY place`,
    wanted.map(({ seq }) => seq),
    wanted.map(({ key }) => key),
  )
  return rows.map(({ found }) => found === true)
}

/** Reads values; long ones are JSON text. */
async function readValues(db: Connection, wanted: readonly CellOfLife[]): Promise<JsonValue[]> {
  const fields = [...new Map(wanted.map(({ field }) => [field.name, field])).values()]
  const rows = await db.all(
    `SELECT "$seq", ${columnsUnlessLong(fields, LONG_BYTES).join(', ')} FROM "$data" AS data WHERE "$seq" = ANY($1::bigint[])`,
    wanted.map(({ key }) => key),
  )
  const byKey = new Map(rows.map((row) => [Number(row['$seq']), row]))
  const values: JsonValue[] = []
  for (const { key, field } of wanted) {
    const row = byKey.get(key)
    const isLong = row !== undefined && longFieldsOf(row, [field]).length > 0
    const long = isLong ? await longValues(db, key, [field]) : null
    values.push(row === undefined ? null : (long?.get(field.name) ?? fieldValue(field, row)))
  }
  return values
}
