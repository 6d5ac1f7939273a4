import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import { FIELD_CHANGES, keptColumns } from '../../fields/stored-changes.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'

/** Reads the values that records keep of removed and converted fields, by their columns; only those that have any. */
export function readKeptValues(
  db: Connection,
  keys: readonly RecordKey[],
): ReadonlyMap<RecordKey, JsonObject> {
  const columns = keptColumns(db.query(FIELD_CHANGES))
  const kept = new Map<RecordKey, JsonObject>()
  if (columns.length === 0) return kept
  const sql = `SELECT ${columns.map(({ name }) => quoted(name)).join(', ')} FROM "$data" WHERE "$seq" = ?`
  for (const key of keys) {
    const row = db.get(sql, key)
    const values = columns
      .map((column): [string, JsonValue] => [column.name, fromColumn(column, row?.[column.name])])
      .filter(([, value]) => value !== null)
    if (values.length > 0) kept.set(key, Object.fromEntries(values))
  }
  return kept
}
