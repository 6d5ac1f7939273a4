import type { Formula } from '../../formula.ts'
import { COLUMN_TYPES, quoted } from '../database/schema.ts'

/** The type of the parameter of the statement: jsonb. */
export const JSONB = 3802

/** Returns the statement that computes a formula for the records in its parameter, an array of objects. */
export function formulaStatement({ expression, inputs }: Formula): string {
  const columns = inputs.map(({ name, type }) => `${quoted(name)} ${COLUMN_TYPES[type]}`)
  // CASE refuses functions that return several rows. The line break ends a comment in the expression.
  return `SELECT CASE WHEN true THEN (${expression}\n) END AS value
    FROM jsonb_to_recordset($1) AS record (${['"$key" integer', ...columns].join(', ')})`
}
