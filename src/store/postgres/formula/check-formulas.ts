import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaInFile } from '../../formula.ts'
import type { Database } from '../database/database.ts'
import { asRecordsError } from '../database/errors.ts'
import { toQueryError } from '../sql/sql-errors.ts'
import { ParseStatement } from '../sql/wire-query.ts'
import { formulaStatement, JSONB } from './formula-statement.ts'

/**
 * Has the database check the types in formulas, which were read before ({@link FormulaParser}); computes nothing. Throws ContractError for
 * the first that it refuses, and RecordsError when the database cannot check them.
 */
export async function checkFormulas(database: Database, formulas: readonly FormulaInFile[]): Promise<void> {
  if (formulas.length === 0) return
  const client = await database.dedicated()
  try {
    for (const { formula, fail } of formulas) {
      try {
        await client.query(new ParseStatement(formulaStatement(formula), [JSONB])).done
      } catch (error) {
        const known = toQueryError(error)
        if (known instanceof QueryError) fail(known.message)
        throw asRecordsError(error)
      }
    }
  } finally {
    await client.end()
  }
}
