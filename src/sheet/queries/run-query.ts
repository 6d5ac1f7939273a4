import type { JsonBytes, SqlStatement } from '../../store/sheet-store.ts'
import type { Sheet } from '../sheet.ts'

/**
 * Runs a read-only SELECT over `records` (D18, D19) and returns the result as JSON. Throws QueryError. When `signal`
 * aborts, stops the statement and throws its reason.
 */
export async function runQuery(
  sheet: Sheet,
  statement: SqlStatement,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  const { store } = await sheet.current()
  return store.query(statement, signal)
}
