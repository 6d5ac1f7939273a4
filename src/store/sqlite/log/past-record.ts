import type { SQLInputValue } from 'node:sqlite'
import type { JsonValue } from '../../../contract/json/json.ts'
import { canHold } from '../../rows/past-values.ts'
import type { JsonBytes } from '../../sheet-store.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { recordJsonExpression, type TypedField } from '../sql/json-columns.ts'
import { fromColumn, jsonBytes, toColumn } from '../database/values.ts'

/** A list of fields, and the statements that answer with them. */
export interface Selection {
  readonly fields: readonly TypedField[]
  /** The JSON of a record that no entry after a seq has changed, else null. */
  readonly unchanged: string
  /** The columns of a record. */
  readonly columns: string
  /** The JSON of a record from values for its columns. */
  readonly json: string
}

/** What is known of a record as it was. */
export interface PastRecord {
  /** The columns of today; undefined for a record that is gone. */
  readonly row: StoredRow | undefined
  /** Where fields had another value. */
  readonly before: ReadonlyMap<string, JsonValue>
}

/** The JSON of a record as it was. SQLite writes it, so that it is to the byte what a plain read would have answered. */
export function pastRecordJson(
  db: Connection,
  { fields, json }: Selection,
  { row, before }: PastRecord,
): JsonBytes {
  if (fields.some((field) => !canHold(field.type, before.get(field.name) ?? null))) {
    // A field had another type then; the contract may change like that while there are no records (D9).
    const valueOf = (field: TypedField): JsonValue =>
      before.get(field.name) ?? (before.has(field.name) ? null : fromColumn(field, row?.[field.name]))
    return Buffer.from(
      JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, valueOf(field)]))),
    )
  }
  const columns = fields.map(({ name }): SQLInputValue => {
    const value = before.get(name)
    return value === undefined ? (row?.[name] ?? null) : toColumn(value)
  })
  return jsonBytes(db.get(json, ...columns)?.['$json'])
}

/** What it takes to answer with these fields; made once for an answer. */
export function selectionOf(fields: readonly TypedField[]): Selection {
  const columns = fields.map(({ name }) => quoted(name))
  // node:sqlite binds every number as REAL.
  const values = fields.map(({ name, type }) =>
    type === 'integer' || type === 'boolean'
      ? `CAST(? AS INTEGER) AS ${quoted(name)}`
      : `? AS ${quoted(name)}`,
  )
  const json = `CAST(${recordJsonExpression(fields)} AS BLOB)`
  return {
    fields,
    unchanged: `SELECT CASE WHEN "$version" <= ?2 THEN ${json} END AS "$json" FROM "$data" WHERE "$seq" = ?1`,
    columns: `SELECT ${['"$seq"', ...columns].join(', ')} FROM "$data" WHERE "$seq" = ?`,
    json: `SELECT ${json} AS "$json" FROM (SELECT ${['0 AS "$seq"', ...values].join(', ')})`,
  }
}
