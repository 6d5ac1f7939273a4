import type { SQLInputValue } from 'node:sqlite'
import type { JsonValue } from '../../../contract/json/json.ts'
import { changedFields, isMoved, type PastField } from '../../fields/past-fields.ts'
import { canHold } from '../../rows/past-values.ts'
import type { JsonBytes } from '../../sheet-store.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { recordJsonExpression, type TypedField } from '../sql/json-columns.ts'
import { fromColumn, jsonBytes, toColumn } from '../database/values.ts'

/** A list of fields, and the SQL to read them. */
export interface Selection {
  readonly fields: readonly PastField[]
  /** Selects the JSON of a record that no entry after a seq has changed, else null. */
  readonly unchanged: string
  /** Selects the columns of a record. */
  readonly columns: string
  /** The fields whose present values are in other columns, or of another type. */
  readonly moved: readonly PastField[]
  /** Selects the present values of a record. */
  readonly present: string
  /** Makes the JSON of a record from values for its columns. */
  readonly json: string
}

/** Facts from which a past record is made. */
export interface PastRecord {
  /** The present columns; undefined for a deleted record. */
  readonly row: StoredRow | undefined
  /** Past values of the fields that have changed. */
  readonly before: ReadonlyMap<string, JsonValue>
}

/** Returns the JSON of a past record. SQLite writes it, so that its bytes are those of a plain read. */
export function pastRecordJson(
  db: Connection,
  { fields, json }: Selection,
  { row, before }: PastRecord,
): JsonBytes {
  if (fields.some((field) => !canHold(field.type, before.get(field.name) ?? null))) {
    // A field may have had another type, also while there were no records (D9).
    const values = fields.map((field) => [field.name, pastValue(field, { row, before })])
    return Buffer.from(JSON.stringify(Object.fromEntries(values)))
  }
  const columns = fields.map(({ name }): SQLInputValue => {
    const value = before.get(name)
    return value === undefined ? (row?.[name] ?? null) : toColumn(value)
  })
  return jsonBytes(db.get(json, ...columns)?.['$json'])
}

function pastValue(field: TypedField, { row, before }: PastRecord): JsonValue {
  return before.get(field.name) ?? (before.has(field.name) ? null : fromColumn(field, row?.[field.name]))
}

/** Returns the fields that have another value now; null for a deleted record, which has no present row. */
export function changedSince(
  { fields }: Selection,
  past: PastRecord,
  present: StoredRow | undefined,
): readonly string[] | null {
  if (present === undefined) return null
  return changedFields(fields, past.before, {
    past: (field) => pastValue(field, past),
    present: ({ name, present: { type } }) => fromColumn({ type }, present[name]),
  })
}

/** Returns the SQL for these fields; one serves all records of a response. */
export function selectionOf(fields: readonly PastField[]): Selection {
  const columns = fields.map(({ name, column }) =>
    column === name ? quoted(name) : `${column === null ? 'NULL' : quoted(column)} AS ${quoted(name)}`,
  )
  const present = fields.map((field) => `${quoted(field.present.name)} AS ${quoted(field.name)}`)
  const isPresent = fields.every(({ name, column }) => name === column)
  const source = isPresent
    ? '"$data"'
    : `(SELECT ${['"$seq"', '"$version"', ...columns].join(', ')} FROM "$data")`
  // node:sqlite binds every number as REAL.
  const values = fields.map(({ name, type }) =>
    type === 'integer' || type === 'boolean'
      ? `CAST(? AS INTEGER) AS ${quoted(name)}`
      : `? AS ${quoted(name)}`,
  )
  const json = `CAST(${recordJsonExpression(fields)} AS BLOB)`
  return {
    fields,
    moved: fields.filter(isMoved),
    present: `SELECT ${['"$seq"', ...present].join(', ')} FROM "$data" WHERE "$seq" = ?`,
    unchanged: `SELECT CASE WHEN "$version" <= ?2 THEN ${json} END AS "$json" FROM ${source} WHERE "$seq" = ?1`,
    columns: `SELECT ${['"$seq"', ...columns].join(', ')} FROM "$data" WHERE "$seq" = ?`,
    json: `SELECT ${json} AS "$json" FROM (SELECT ${['0 AS "$seq"', ...values].join(', ')})`,
  }
}
