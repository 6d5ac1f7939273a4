import { PAGE_BYTES } from '../../page-bytes.ts'
import { recordWeight } from '../json/fitting-records.ts'
import type { LogicalType } from '../../../contract/contract.ts'
import { parseMoment } from '../../../contract/values/date-time.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { RawJson } from '../../../contract/json/raw-json.ts'
import { jsonInTurns } from '../../../contract/json/stringify-in-parts.ts'
import { changedFields, isMoved, type PastField } from '../../fields/past-fields.ts'
import { canHold } from '../../rows/past-values.ts'
import type { JsonBytes } from '../../sheet-store.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { RECORD_JSON, recordJsonSource } from '../json/record-json.ts'
import { columnType, quoted, recordset } from '../database/schema.ts'
import { columnsOf, type TypedField } from '../database/columns.ts'
import { fieldValue, toColumns } from '../database/values.ts'
import { columnsUnlessLong } from '../read/long-columns.ts'
import { LONG_BYTES } from './stored-line.ts'

/** The weight in bytes above which a record is read like a changed one, its long values in pieces. */
const RECORD_BYTES = 1 << 20

/** A list of fields, and the SQL to read them. */
export interface Selection {
  readonly fields: readonly PastField[]
  /**
   * Selects the keys after $1 up to $2 that records have or had, in order, at most $3 of them, each with the JSON of its
   * record if no entry after the seq $4 has changed it, unless it is long. Each of the two tables is limited to $3 before
   * the union, which would otherwise be sorted as a whole. Where their records exceed the bytes of a page there are fewer;
   * `$found` is the number without that limit.
   */
  readonly lives: string
  /** Selects the columns of the records with these keys. */
  readonly columns: string
  /** The fields whose present values are in other columns, or of another type. */
  readonly moved: readonly PastField[]
  /** The fields as they are now, and the SQL of their columns of the records with these keys. */
  readonly presentFields: readonly TypedField[]
  readonly present: string
  /** Makes the JSON of records from values for their columns, in the same order. */
  readonly json: string
}

/** The present columns of a record, and the values that the row does not have. */
export interface PresentValues {
  readonly row: StoredRow
  readonly long: ReadonlyMap<string, JsonValue>
}

/** Facts from which a past record is made. */
export interface PastRecord {
  /** The present columns, without long values; undefined for a deleted record. */
  readonly row: StoredRow | undefined
  /** Present values that the row does not have. */
  readonly long: ReadonlyMap<string, JsonValue>
  /** Past values of the fields that have changed. */
  readonly before: ReadonlyMap<string, JsonValue>
}

/** Returns the JSON of past records in their order. PostgreSQL writes it, so that its bytes are those of a plain read. */
export async function pastRecordsJson(
  db: Connection,
  { fields, json }: Selection,
  records: readonly PastRecord[],
): Promise<JsonBytes[]> {
  const all = records.map((record) => new Map(fields.map((field) => [field, pastValue(record, field)])))
  const held = all.filter(canAllBeHeld)
  const rows = held.length === 0 ? [] : await db.all(json, JSON.stringify(held.map(inColumns)))
  const texts = new Map(held.map((values, index) => [values, String(rows[index]?.['$json'])]))
  const found: JsonBytes[] = []
  for (const values of all) found.push(Buffer.from(texts.get(values) ?? (await plainJson(values))))
  return found
}

/** Returns the fields that have another value now; null for a deleted record, which has no present values. */
export function changedSince(
  { fields }: Selection,
  past: PastRecord,
  present: PresentValues | undefined,
): readonly string[] | null {
  if (present === undefined) return null
  return changedFields(fields, past.before, {
    past: (field) => pastValue(past, field),
    present: ({ present: field }) => present.long.get(field.name) ?? fieldValue(field, present.row),
  })
}

type PastValues = ReadonlyMap<PastField, JsonValue>

function pastValue({ row, long, before }: PastRecord, field: PastField): JsonValue {
  const value = before.get(field.name) ?? (before.has(field.name) ? null : long.get(field.name))
  if (value !== undefined) return value
  return row === undefined ? null : fieldValue(field, row)
}

/** Returns the values as a row of `$data`, with its position in the list. */
function inColumns(values: PastValues, place: number): JsonObject {
  const columns = [...values].flatMap(([field, value]) => toColumns(field, value))
  return { ...Object.fromEntries(columns), $seq: place }
}

/**
 * Returns JSON that PostgreSQL need not write, for a field that had another type, as it can change while there are no
 * records (D9), and for a long value, which is not sent to be written.
 */
function plainJson(values: PastValues): Promise<string | Uint8Array> {
  return jsonInTurns(Object.fromEntries([...values].map(([{ name }, value]) => [name, value])))
}

/** Returns the SQL for these fields; one serves all records of a response. */
export function selectionOf(fields: readonly PastField[]): Selection {
  const data = pastData(fields)
  const presentFields = fields.map(({ present }) => present)
  return {
    fields,
    moved: fields.filter(isMoved),
    presentFields,
    present: `SELECT ${['"$seq"', ...columnsUnlessLong(presentFields, LONG_BYTES)].join(', ')} FROM "$data" AS data WHERE "$seq" = ANY($1::bigint[])`,
    lives: `SELECT life.key, life."$found", CASE WHEN data."$version" <= $4 AND "$weight" <= ${RECORD_BYTES} THEN ${RECORD_JSON} END AS "$json" FROM (
        SELECT key, "$weight", count(*) OVER () AS "$found", sum("$weight") OVER (ORDER BY key) - "$weight" AS "$before" FROM (
        SELECT keys.key, coalesce(${recordWeight(fields, 'data')}, 0) AS "$weight" FROM (
        (SELECT "$seq" AS key FROM "$data" WHERE "$seq" > $1 AND "$seq" <= $2 ORDER BY 1 LIMIT $3)
        UNION ALL (SELECT record FROM "$deleted" WHERE record > $1 AND record <= $2 ORDER BY 1 LIMIT $3)
        ORDER BY 1 LIMIT $3
        ) AS keys LEFT JOIN ${data} AS data ON data."$seq" = keys.key) AS weighed
      ) AS life LEFT JOIN ${data} AS data ON data."$seq" = life.key ${recordJsonSource(fields, 'data')}
      WHERE life."$before" <= ${PAGE_BYTES} ORDER BY life.key`,
    columns: `SELECT ${['"$seq"', ...columnsUnlessLong(fields, LONG_BYTES)].join(', ')} FROM ${data} AS data WHERE "$seq" = ANY($1::bigint[])`,
    json: `SELECT ${RECORD_JSON} AS "$json" FROM (
        SELECT * FROM json_to_recordset($1::json) AS past(${recordset(fields)})
      ) AS data ${recordJsonSource(fields, 'data')} ORDER BY data."$seq"`,
  }
}

/** Returns the table of records, or a query that has the columns of fields under their present names. */
function pastData(fields: readonly PastField[]): string {
  if (fields.every(({ name, column }) => name === column)) return '"$data"'
  const columns = fields.flatMap(({ name, type, column }) => {
    const own = columnsOf([{ name, type }]).map(quoted)
    const sources =
      column === null
        ? [`NULL::${columnType({ type })}`, 'NULL::json']
        : columnsOf([{ name: column, type }]).map(quoted)
    return own.map((alias, index) => `${sources[index]} AS ${alias}`)
  })
  return `(SELECT "$seq", "$version", ${columns.join(', ')} FROM "$data")`
}

function canAllBeHeld(values: PastValues): boolean {
  return [...values].every(([{ type }, value]) => !(value instanceof RawJson) && fitsColumn(type, value))
}

/**
 * Whether a column of this type can store a value: a `bigint` no fraction and no larger number, a timestamp no other text.
 */
function fitsColumn(type: LogicalType, value: JsonValue): boolean {
  if (value === null) return true
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type !== 'date' && type !== 'timestamp') return canHold(type, value)
  return typeof value === 'string' && parseMoment(type, value) !== null
}
