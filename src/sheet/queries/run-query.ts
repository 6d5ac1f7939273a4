import type { JsonBytes, SqlStatement } from '../../store/sheet-store.ts'
import type { Sheet } from '../sheet.ts'

/**
 * Runs one read-only SELECT over `records` (D18, D19); the query result. Throws QueryError, and the signal's reason once
 * it aborts: then the statement is stopped.
 */
export async function runQuery(
  sheet: Sheet,
  statement: SqlStatement,
  signal?: AbortSignal,
): Promise<JsonBytes> {
  const { store } = await sheet.current()
  return store.query(statement, signal)
}
