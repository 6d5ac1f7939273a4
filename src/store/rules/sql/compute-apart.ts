import type { JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { err, type Result } from '../../../errors/result.ts'
import type { FormulaRow } from '../../formula.ts'

/** The number of parts into which a failed batch is divided. */
const PARTS = 16

/**
 * Computes rows together, and in ever smaller parts where that fails with a QueryError, such as one of a limit: a row that cannot be
 * computed fails by itself, and no other row with it. Throws other errors, and that there is no process or connection.
 */
export async function computeApart(
  rows: readonly FormulaRow[],
  compute: (rows: readonly FormulaRow[]) => Promise<readonly Result<JsonValue, string>[]>,
): Promise<readonly Result<JsonValue, string>[]> {
  try {
    return await compute(rows)
  } catch (error) {
    // No process or connection: that is not because of a row.
    if (!(error instanceof QueryError) || error.code === 'too_many_queries') throw error
    if (rows.length === 1) return [err(error.message.replace(/^the query/, 'the formula'))]
  }
  const results: Result<JsonValue, string>[] = []
  const size = Math.ceil(rows.length / PARTS)
  for (let start = 0; start < rows.length; start += size) {
    results.push(...(await computeApart(rows.slice(start, start + size), compute)))
  }
  return results
}
