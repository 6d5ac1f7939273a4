import { quoted } from '../database/schema.ts'
import { mayDiffer, writtenColumn, type TypedField } from '../database/columns.ts'

/** The alias under which {@link recordJsonSource} provides the record. */
const RECORD = '"$json"'

/**
 * Returns a join to `$data`, under the name `alias`, so that {@link RECORD_JSON} is the JSON text of a record with these
 * fields in this order (D12), each exactly as it was written; null for no value.
 *
 * `SELECT ${RECORD_JSON} FROM "$data" AS data ${recordJsonSource(fields, 'data')} WHERE data.id = $1`
 */
export function recordJsonSource(fields: readonly TypedField[], alias: string): string {
  const columns = fields.map((field) => `${fieldJson(field, alias)} AS ${quoted(field.name)}`)
  return `CROSS JOIN LATERAL (SELECT ${columns.join(', ')}) AS ${RECORD}`
}

/** The record as text; requires {@link recordJsonSource}. */
export const RECORD_JSON = `row_to_json(${RECORD})::text`

/** Returns an expression of a type whose JSON is that of the field's value as it was written; `alias` names `$data`. */
export function fieldJson({ name, type }: TypedField, alias: string): string {
  const column = `${quoted(alias)}.${quoted(name)}`
  if (!mayDiffer(type)) return column
  const plain = type === 'timestamp' ? timestampText(column) : column
  return `coalesce(${quoted(alias)}.${quoted(writtenColumn(name))}, to_json(${plain}))`
}

/** Returns SQL for a timestamp in UTC, with a fraction of three or six digits where there is one. */
export function timestampText(column: string): string {
  const utc = `${column} AT TIME ZONE 'UTC'`
  const form = (fraction: string): string => `to_char(${utc}, 'YYYY-MM-DD"T"HH24:MI:SS${fraction}"Z"')`
  return `CASE WHEN ${column} = date_trunc('second', ${column}) THEN ${form('')} WHEN ${column} = date_trunc('milliseconds', ${column}) THEN ${form('.MS')} ELSE ${form('.US')} END`
}
