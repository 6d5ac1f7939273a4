import { runQuery } from './run-query.ts'
import type { Sheet } from '../sheet.ts'

/** The first ids that begin with a text, in their order: at most so many. */
export async function findRecordIds(sheet: Sheet, prefix: string, limit: number): Promise<readonly string[]> {
  const sql = 'SELECT id FROM records WHERE substr(id, 1, length(?)) = ? ORDER BY id LIMIT ?'
  const answer = await runQuery(sheet, { sql, params: [prefix, prefix, limit] })
  const { rows } = JSON.parse(answer.toString()) as { rows: readonly { readonly id: string }[] }
  return rows.map(({ id }) => id)
}
