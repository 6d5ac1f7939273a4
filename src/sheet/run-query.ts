import type { JsonBytes, SqlParam } from '../store/sheet-store.ts'
import type { Sheet } from './sheet.ts'

/** Runs one read-only SELECT over `records` (D18, D19); the query result. Throws QueryError. */
export async function runQuery(
  sheet: Sheet,
  { sql, params }: { readonly sql: string; readonly params: readonly SqlParam[] },
): Promise<JsonBytes> {
  const { store } = await sheet.current()
  return store.query(sql, params)
}
