import { QueryError } from '../../../errors/service-error.ts'
import { err, type Result } from '../../../errors/result.ts'
import type { FormulaRow } from '../../formula.ts'
import type { QueryPass, QueryRow } from '../../records-query.ts'

/**
 * Runs a query for rows, as many at a time as `compute` returns results for, at least one. Where that throws a QueryError, such as one of a
 * limit, the next row runs alone, so that it fails by itself. Rows after several in a row that a limit has stopped are not tried. Throws
 * other errors, and that there is no process or connection.
 */
export async function inTurns(
  rows: readonly FormulaRow[],
  pass: QueryPass,
  compute: (rows: readonly FormulaRow[]) => Promise<readonly Result<QueryRow, string>[]>,
): Promise<readonly Result<QueryRow, string>[]> {
  const results: Result<QueryRow, string>[] = []
  let isAlone = false
  while (results.length < rows.length) {
    if (pass.given !== null) {
      results.push(err(pass.given))
      continue
    }
    const some = rows.slice(results.length, isAlone ? results.length + 1 : rows.length)
    try {
      const computed = await compute(some)
      if (computed.length === 0) throw new Error('a query has no result')
      results.push(...computed)
      pass.succeeded()
      isAlone = false
    } catch (error) {
      // No process or connection: that is not because of a row.
      if (!(error instanceof QueryError) || error.code === 'too_many_queries') throw error
      // What lacked memory may have shared it with other queries; the process that tries it again is a new one.
      const isTriedAgain = error.code === 'query_memory' && !isAlone
      if (some.length === 1 && !isTriedAgain) {
        const isStopped = error.code === 'query_timeout' || error.code === 'query_memory'
        results.push(err(error.message))
        pass.failed(error.message, isStopped)
      }
      isAlone = true
    }
  }
  return results
}
