import { QueryError } from '../../../errors/service-error.ts'
import { quoted } from '../schema.ts'
import { recordJsonExpression, type TypedField } from './json-columns.ts'
import { rowsOf } from './rows-of.ts'
import type { SqlAnswer } from './sql-answer.ts'
import { checkFilter, type CheckedSql } from './sql-checks.ts'
import type { SqlDatabase } from './sql-database.ts'
import { toQueryError } from './sql-errors.ts'

/** A page of the records that a filter from a user lets through. */
export interface PageRun {
  /** The fields of the answer, in its order. */
  readonly fields: readonly TypedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  readonly limit: number
  /** Records after this one; null starts at the first. */
  readonly after: number | null
  readonly filter: string
}

/** Writes a page as a JSON array and returns where the next one starts after, or null (D11, D16). Throws QueryError. */
export function runPage(database: SqlDatabase, run: PageRun, answer: SqlAnswer): number | null {
  const filter = checkFilter(run.filter.toWellFormed())
  return database.snapshot(() => {
    confineFilter(database, filter)
    return writePage(database, { ...run, filter: filter.text }, answer)
  })
}

/**
 * Proves that a filter is one expression over `records`. Alone in brackets, `1=1) OR (1=1` would pass; alone without,
 * `1 THEN 2 WHEN 3` would; no text is known that passes both and is not an expression.
 */
function confineFilter(database: SqlDatabase, { text, names }: CheckedSql): void {
  const shapes = [
    `SELECT 1 FROM records WHERE (\n${text}\n)`,
    `SELECT CASE WHEN\n${text}\nTHEN 1 END FROM records`,
  ]
  try {
    database.guard.confine(names, () => {
      for (const sql of shapes) {
        if (database.prepare(sql).sourceSQL !== sql) throw new QueryError('it is not one expression')
      }
    })
  } catch (error) {
    const known = toQueryError(error)
    throw known instanceof QueryError ? new QueryError(`the filter cannot be used: ${known.message}`) : known
  }
}

function writePage(database: SqlDatabase, run: PageRun, answer: SqlAnswer): number | null {
  const statement = database.prepare(pageSql(run, sortsWithoutNeed(database, run) ? 'NOT INDEXED' : ''))
  const rows = rowsOf(statement, [run.after ?? 0, run.limit + 1])
  let count = 0
  let last: number | null = null
  answer.text('[')
  for (const [key, json] of rows as Iterable<readonly unknown[]> as Iterable<readonly [number, Uint8Array]>) {
    if (count === run.limit) {
      answer.text(']')
      return last
    }
    if (count > 0) answer.text(',')
    answer.bytes(json)
    last = key
    count += 1
  }
  answer.text(']')
  return null
}

/** The cursor's condition stands in a query of its own, so that it never shares a WHERE with the filter. */
function pageSql({ fields, allFields, filter }: PageRun, index: '' | 'NOT INDEXED'): string {
  const columns = ['"$seq"', ...allFields.map(({ name }) => quoted(name))]
  return `SELECT "$seq", CAST(${recordJsonExpression(fields, 'records')} AS BLOB)
    FROM (SELECT ${columns.join(', ')} FROM "$data" ${index} WHERE "$seq" > ?) AS records
    WHERE (\n${filter}\n) ORDER BY "$seq" LIMIT ?`
}

/**
 * Whether SQLite would read a range of an index and sort it, which takes as long as the range has records, however
 * few are asked for. Without the index it reads in order and stops early. A few single keys are worth sorting.
 */
function sortsWithoutNeed(database: SqlDatabase, run: PageRun): boolean {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${pageSql(run, '')}`).all(0, 1)
  const steps = plan.map(({ detail }) => String(detail))
  return (
    steps.some((step) => step.includes('TEMP B-TREE FOR ORDER BY')) &&
    steps.some((step) => /USING (?:COVERING )?INDEX .*\(.*[<>]/.test(step.replaceAll(/rowid[<>]=?\?/g, '')))
  )
}
