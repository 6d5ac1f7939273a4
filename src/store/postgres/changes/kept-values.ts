import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { KeptColumn } from '../../fields/stored-changes.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { fieldValue } from '../database/values.ts'

/** Reads the values that records keep in these columns; only those that have any. */
export async function readKeptValues(
  db: Connection,
  columns: readonly KeptColumn[],
  keys: readonly RecordKey[],
): Promise<ReadonlyMap<RecordKey, JsonObject>> {
  if (columns.length === 0 || keys.length === 0) return new Map()
  const names = ['$seq', ...columnsOf(columns)].map(quoted)
  const sql = `SELECT ${names.join(', ')} FROM "$data" WHERE "$seq" = ANY($1::bigint[])`
  const rows = await db.all(sql, keys)
  const kept = rows.map((row) => {
    const values = columns
      .map((column): [string, JsonValue] => [column.name, fieldValue(column, row)])
      .filter(([, value]) => value !== null)
    return [Number(row['$seq']), values] as const
  })
  return new Map(
    kept.flatMap(([key, values]) =>
      values.length === 0 ? [] : [[key, Object.fromEntries(values)] as const],
    ),
  )
}
