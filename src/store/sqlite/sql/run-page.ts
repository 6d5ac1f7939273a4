import { QueryError } from '../../../errors/service-error.ts'
import type { PagePlace, SortValue } from '../../sheet-store.ts'
import { quoted } from '../schema.ts'
import { recordJsonExpression, type TypedField } from './json-columns.ts'
import { rowsOf } from './rows-of.ts'
import { sortColumn, sortColumns, sortedAfter, sortOrder, type SortTerm } from './sort-sql.ts'
import type { SqlAnswer } from './sql-answer.ts'
import { checkFilter, type CheckedSql } from './sql-checks.ts'
import type { SqlDatabase } from './sql-database.ts'
import { toQueryError } from './sql-errors.ts'

/** A page of records that takes more than walking along the table: filtered or sorted. */
export interface PageRun {
  /** The fields of the answer, in its order. */
  readonly fields: readonly TypedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  readonly limit: number
  /** Records after this place; null starts at the first. */
  readonly after: PagePlace | null
  /** From a user; null for all records. */
  readonly filter: string | null
  /** Creation order when there are none. */
  readonly sort: readonly SortTerm[]
  /** So many records are passed over. */
  readonly skip: number
}

/** Writes a page as a JSON array and returns where the next one starts after, or null (D11, D16). Throws QueryError. */
export function runPage(database: SqlDatabase, run: PageRun, answer: SqlAnswer): PagePlace | null {
  return withFilter(database, run.filter, (filter) => writePage(database, { ...run, filter }, answer))
}

/**
 * Runs `action` on one state of the database with a filter from a user, once it is proven to be one expression over
 * `records`. Throws QueryError.
 */
export function withFilter<T>(
  database: SqlDatabase,
  given: string | null,
  action: (filter: string | null) => T,
): T {
  const filter = given === null ? null : checkFilter(given.toWellFormed())
  return database.snapshot(() => {
    if (filter !== null) confineFilter(database, filter)
    return action(filter === null ? null : filter.text)
  })
}

/** The records that a filter lets through, as a table `records` with these columns; the filter stands alone in its WHERE. */
export function filteredRecords(columns: string, filter: string | null, hint = ''): string {
  const where = filter === null ? '' : `WHERE (\n${filter}\n)`
  return `(SELECT ${columns} FROM "$data" ${hint}) AS records ${where}`
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

function writePage(database: SqlDatabase, run: PageRun, answer: SqlAnswer): PagePlace | null {
  const { sql, params } = run.sort.length > 0 ? sortedPage(run) : pageInCreationOrder(database, run)
  const rows = rowsOf(database.prepare(sql), params) as Iterable<readonly unknown[]> as Iterable<PageRow>
  let count = 0
  let last: PagePlace | null = null
  answer.text('[')
  for (const [key, json, ...values] of rows) {
    if (count === run.limit) {
      answer.text(']')
      return last
    }
    if (count > 0) answer.text(',')
    answer.bytes(json)
    last = { key, values }
    count += 1
  }
  answer.text(']')
  return null
}

type PageRow = readonly [key: number, json: Uint8Array, ...values: SortValue[]]

interface BoundSql {
  readonly sql: string
  readonly params: readonly (string | number)[]
}

/** Finds the records of the page by what they are sorted by, and only then makes their JSON. */
function sortedPage({ sort, after, skip, limit, fields, allFields, filter }: PageRun): BoundSql {
  const columns = `"$seq"${sortColumns(sort)}, ${allFields.map(({ name }) => quoted(name)).join(', ')}`
  const keys = sort.map((_term, index) => sortColumn(index)).join(', ')
  const found = `SELECT "$seq", ${keys} FROM ${filteredRecords(columns, filter)}`
  const place = after === null ? null : sortedAfter(sort, after)
  const page = `SELECT * FROM (${found}) ${place === null ? '' : `WHERE ${place.sql}`}
    ORDER BY ${sortOrder(sort)} LIMIT ? OFFSET ?`
  return {
    sql: `SELECT place."$seq", CAST(${recordJsonExpression(fields, 'records')} AS BLOB), ${keys}
      FROM (${page}) AS place JOIN "$data" AS records ON records."$seq" = place."$seq"
      ORDER BY ${sortOrder(sort).replace('"$seq"', 'place."$seq"')}`,
    params: [...(place?.params ?? []), limit + 1, skip],
  }
}

function pageInCreationOrder(database: SqlDatabase, run: PageRun): BoundSql {
  const sql = pageSql(run, sortsWithoutNeed(database, run) ? 'NOT INDEXED' : '')
  return { sql, params: [run.after?.key ?? 0, run.limit + 1, run.skip] }
}

/** The cursor's condition stands in a query of its own, so that it never shares a WHERE with the filter. */
function pageSql({ fields, allFields, filter }: PageRun, index: '' | 'NOT INDEXED'): string {
  const columns = ['"$seq"', ...allFields.map(({ name }) => quoted(name))]
  const records = filteredRecords(columns.join(', '), filter, `${index} WHERE "$seq" > ?`)
  return `SELECT "$seq", CAST(${recordJsonExpression(fields, 'records')} AS BLOB)
    FROM ${records} ORDER BY "$seq" LIMIT ? OFFSET ?`
}

/**
 * Whether SQLite would read a range of an index and sort it, which takes as long as the range has records, however
 * few are asked for. Without the index it reads in order and stops early. A few single keys are worth sorting.
 */
function sortsWithoutNeed(database: SqlDatabase, run: PageRun): boolean {
  if (run.filter === null) return false
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${pageSql(run, '')}`).all(0, 1, 0)
  const steps = plan.map(({ detail }) => String(detail))
  return (
    steps.some((step) => step.includes('TEMP B-TREE FOR ORDER BY')) &&
    steps.some((step) => /USING (?:COVERING )?INDEX .*\(.*[<>]/.test(step.replaceAll(/rowid[<>]=?\?/g, '')))
  )
}
