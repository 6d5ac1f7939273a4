import { QueryError } from '../../../errors/service-error.ts'
import { cellConditions, type Condition } from '../../condition.ts'
import { PAGE_BYTES } from '../../page-bytes.ts'
import type { PagePlace, PageQuery, SortValue } from '../../sheet-store.ts'
import { runSync } from '../../rules/steps.ts'
import { CellConditionSql, cellFacts, type CellDialect } from '../../rules/sql/cell-condition-sql.ts'
import { quoted } from '../database/schema.ts'
import { bindCondition, type BoundCondition } from './condition-sql.ts'
import { recordJsonExpression, type TypedField } from './json-columns.ts'
import { rowsOf } from './statement-rows.ts'
import { heldColumns, sortColumn, sortColumns, sortedParts, type SortTerm } from './sort-sql.ts'
import type { ResultWriter } from './sql-result.ts'
import { checkFilter, type CheckedSql } from './sql-checks.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SqlGuard } from './sql-guard.ts'
import { toQueryError } from './sql-errors.ts'

/** A database whose pages are read; without a guard it takes no filter from a user. */
export interface PageDatabase extends Pick<SqlDatabase, 'prepare' | 'snapshot'> {
  readonly guard: SqlGuard | null
}

/** Takes the text of a page, piece by piece. */
export type TextWriter = Pick<ResultWriter, 'text'>

/** A page of filtered or sorted records. */
export interface PageRun extends Omit<PageQuery, 'fields' | 'sort'> {
  /** The fields of the response, in its order. */
  readonly fields: readonly TypedField[]
  /** The contract's fields, which the filter may name. */
  readonly allFields: readonly TypedField[]
  readonly sort: readonly SortTerm[]
  /** The index by which SQLite has to find the records; absent where it chooses. */
  readonly index?: string
}

/**
 * Writes a page as a JSON array and returns the place after which the next one starts, or null (D11, D16). Throws
 * QueryError.
 */
export function runPage(database: PageDatabase, run: PageRun, writer: TextWriter): PagePlace | null {
  return withFilter(database, run, (wanted) => writePage(database, { ...run, ...wanted }, writer))
}

/** A filter from a user, and a condition. */
interface GivenFilter {
  readonly filter: string | null
  readonly where?: Condition | null
}

/**
 * Runs `action` on one state of the database with a filter from a user, once it is proven to be one expression over
 * `records`, and a condition, compiled for that state. Throws QueryError.
 */
export function withFilter<T>(
  database: PageDatabase,
  { filter: given, where = null }: GivenFilter,
  action: (wanted: WantedRecords, cells: CellConditionSql) => T,
): T {
  const filter = given === null ? null : checkFilter(given.toWellFormed())
  return database.snapshot(() => {
    if (filter !== null) confineFilter(database, filter)
    const onCells = where === null ? [] : cellConditions(where)
    const facts = runSync(cellFacts(onCells, ({ sql, result }) => result(database.prepare(sql).all())))
    const cells = new CellConditionSql(facts, CELLS)
    const bound = where === null ? null : bindCondition(where, DATA, (condition) => cells.compile(condition))
    return action({ filter: filter === null ? null : filter.text, where: bound }, cells)
  })
}

export interface WantedRecords {
  /** An expression from a user, proven to be one; null for all records. */
  readonly filter: string | null
  /** A condition over the columns of `"$data"`; null for all records. */
  readonly where: BoundCondition | null
}

/** A page with its filter and condition as SQL. */
type BoundPage = Omit<PageRun, 'filter' | 'where'> & WantedRecords

/**
 * Returns the records that a filter and a condition select, as a table `records` with these columns, and the parameters of
 * that SQL. The filter is alone in its WHERE. `piece` is a condition of the program, with its parameters.
 */
export function filteredRecords(
  columns: string,
  { filter, where }: WantedRecords,
  { hint = '', piece = EVERYTHING }: { readonly hint?: string; readonly piece?: BoundCondition } = {},
): BoundSql {
  const parts = [piece, where ?? EVERYTHING].filter(({ sql }) => sql !== '')
  const inner = parts.length === 0 ? '' : `WHERE ${parts.map(({ sql }) => sql).join(' AND ')}`
  const outer = filter === null ? '' : `WHERE (\n${filter}\n)`
  return {
    sql: `(SELECT ${columns} FROM "$data" ${hint} ${inner}) AS records ${outer}`,
    params: parts.flatMap(({ params }) => params),
  }
}

/** The table of the records. */
export const DATA = '"$data"'

/** The SQL of SQLite for records with cells that meet a condition. */
export const CELLS: CellDialect = {
  amongFew: (records) => `"$seq" IN (${records})`,
  amongMany: (_records, ofRecord) => `(${ofRecord.map((select) => `EXISTS (${select})`).join(' OR ')})`,
  readBy: (index) => `INDEXED BY "${index}"`,
}

const EVERYTHING: BoundCondition = { sql: '', params: [] }

/**
 * Proves that a filter is one expression over `records`. Alone in brackets, `1=1) OR (1=1` would pass; alone without, `1
 * THEN 2 WHEN 3` would; no text is known that passes both and is not an expression.
 */
function confineFilter(database: PageDatabase, { text, names }: CheckedSql): void {
  const { guard } = database
  if (guard === null) throw new Error('this database takes no filter')
  const shapes = [
    `SELECT 1 FROM records WHERE (\n${text}\n)`,
    `SELECT CASE WHEN\n${text}\nTHEN 1 END FROM records`,
  ]
  try {
    guard.confine(names, () => {
      for (const sql of shapes) {
        if (database.prepare(sql).sourceSQL !== sql) throw new QueryError('it is not one expression')
      }
    })
  } catch (error) {
    const known = toQueryError(error)
    throw known instanceof QueryError
      ? new QueryError(`the filter cannot be used: ${known.message}`, known.code)
      : known
  }
}

function writePage(database: PageDatabase, run: BoundPage, writer: TextWriter): PagePlace | null {
  const page = new PageWriter(database, run, writer)
  if (run.sort.length > 0) writeSorted(page, run)
  else writeInCreationOrder(page, run)
  return page.finish()
}

type PageRow = readonly [key: number, json: string, ...values: SortValue[]]

/** A statement, or a part of one, with its parameters in their order. */
type BoundSql = BoundCondition

/** Writes the records of a page as they are found, perhaps by several statements, up to its limit of records or bytes. */
class PageWriter {
  readonly database: PageDatabase
  readonly #writer: TextWriter
  readonly #limit: number
  #count = 0
  #bytes = 0
  #last: PagePlace | null = null
  #full = false

  constructor(database: PageDatabase, { limit }: BoundPage, writer: TextWriter) {
    this.database = database
    this.#writer = writer
    this.#limit = limit
    writer.text('[')
  }

  /** Number of records to look for: the rest of the page, and one to know whether any follow. */
  get wanted(): number {
    return this.#full ? 0 : this.#limit - this.#count + 1
  }

  /** Writes the records that a statement finds; returns the number of its rows. */
  add({ sql, params }: BoundSql): number {
    let found = 0
    for (const [key, json, ...values] of rowsOf(
      this.database.prepare(sql),
      params,
    ) as Iterable<unknown> as Iterable<PageRow>) {
      found += 1
      this.#bytes += Buffer.byteLength(json)
      if (this.#count === this.#limit || (this.#count > 0 && this.#bytes > PAGE_BYTES)) {
        this.#full = true
        break
      }
      if (this.#count > 0) this.#writer.text(',')
      this.#writer.text(json)
      this.#last = { key, values }
      this.#count += 1
    }
    return found
  }

  /** Completes the page; returns the place of the last record when others follow, else null. */
  finish(): PagePlace | null {
    this.#writer.text(']')
    return this.#full ? this.#last : null
  }
}

/** Finds the records of each part by their sort columns, and only then makes their JSON. */
function writeSorted(page: PageWriter, run: BoundPage): void {
  const { sort, fields, allFields } = run
  const columns = `"$seq"${sortColumns(sort)}, ${allFields.map(({ name }) => quoted(name)).join(', ')}`
  const keys = sort.map((_term, index) => sortColumn(index)).join(', ')
  const wanted = filteredRecords(columns, run, { hint: readBy(run) })
  const found = `SELECT "$seq", ${keys} FROM ${wanted.sql}`
  const held = heldColumns(sort, 'place').join(', ')
  let { skip } = run
  for (const { where, params, orderBy } of sortedParts(sort, run.after)) {
    if (page.wanted === 0) return
    const part = `SELECT * FROM (${found}) ${where === '' ? '' : `WHERE ${where}`}`
    const rows = page.add({
      sql: `SELECT place."$seq", ${recordJsonExpression(fields, 'records')}, ${held}
        FROM (${part} ORDER BY ${orderBy} LIMIT ? OFFSET ?) AS place JOIN "$data" AS records ON records."$seq" = place."$seq"
        ORDER BY ${orderBy.replace('"$seq"', 'place."$seq"')}`,
      params: [...wanted.params, ...params, page.wanted, skip],
    })
    // Skipped were all records of the part, or as many as had to be.
    if (skip > 0)
      skip =
        rows > 0 ? 0 : skip - countRows(page.database, { sql: part, params: [...wanted.params, ...params] })
  }
}

/** Returns the number of rows of a statement. */
export function countRows(database: PageDatabase, { sql, params }: BoundSql): number {
  const [row] = rowsOf(database.prepare(`SELECT count(*) FROM (${sql})`), params)
  return Number(row?.[0])
}

/** Records that are scanned in creation order before an index is considered. */
const FIRST_PIECE = 5000

/** The scan continues as long as its hits promise a full page within so many records. */
const SCAN_LIMIT = 100_000

/**
 * Writes a page in creation order. Where a filter selects a range of an index, SQLite would either scan all records in
 * order or read the range and sort it, however few are requested. So a piece of the list is scanned first: mostly it
 * contains enough, or promises that the next will. Only then the index is considered, which takes as long as the range is.
 * Records that an index finds one by one are thirty times slower to read than in their order, so that a filter on fields
 * outside the index scans them.
 */
function writeInCreationOrder(page: PageWriter, run: BoundPage): void {
  let above = run.after?.key ?? 0
  const isSearch = run.index === undefined && (run.filter !== null || run.where !== null)
  const way = isSearch ? wayOf(page.database, run) : 'any'
  if (way !== 'by an index' || run.skip > 0) {
    page.add(inCreationOrder(run, { wanted: page.wanted, above, way }))
    return
  }
  for (let records = FIRST_PIECE; records <= SCAN_LIMIT;) {
    const found = page.add(
      inCreationOrder(run, { wanted: page.wanted, above, way: { upTo: above + records } }),
    )
    if (page.wanted === 0) return
    above += records
    // Twice the expected need. When nothing was found, hits may be anywhere.
    records = found === 0 ? Infinity : Math.max(FIRST_PIECE, Math.ceil((2 * records * page.wanted) / found))
  }
  page.add(inCreationOrder(run, { wanted: page.wanted, above, way }))
}

interface Piece {
  /** Number of records to find. */
  readonly wanted: number
  /** Records with keys above this one. */
  readonly above: number
  readonly way: Way
}

/** The access path: a scan in order up to a key, or to the end; an index, with a sort; or SQLite's choice. */
type Way = { readonly upTo: number } | 'in order' | 'by an index' | 'any'

/**
 * Returns the statement for records in creation order. The cursor's condition is in a separate query, so that it never
 * shares a WHERE with the filter. JSON is made only of the records that are found.
 */
function inCreationOrder(run: BoundPage, { wanted, above, way }: Piece): BoundSql {
  const { fields, allFields, filter, where, skip } = run
  const columns = ['"$seq"', ...allFields.map(({ name }) => quoted(name))].join(', ')
  const upTo = typeof way === 'object' ? [way.upTo] : []
  // The plus keeps SQLite from using the order of the table, in which it would scan all records.
  const key = way === 'by an index' ? '+"$seq"' : '"$seq"'
  const hint = way === 'by an index' || way === 'any' ? readBy(run) : 'NOT INDEXED'
  const between = `${key} > ?${upTo.length > 0 ? ` AND ${key} <= ?` : ''}`
  const piece = { sql: between, params: [above, ...upTo] }
  const records = filteredRecords(columns, { filter, where }, { hint, piece })
  const found = `SELECT "$seq" FROM ${records.sql} ORDER BY ${key} LIMIT ? OFFSET ?`
  return {
    sql: `SELECT place."$seq", ${recordJsonExpression(fields, 'records')}
      FROM (${found}) AS place JOIN "$data" AS records ON records."$seq" = place."$seq" ORDER BY place."$seq"`,
    params: [...records.params, wanted, skip],
  }
}

/** Returns the hint for the index of a page. */
function readBy({ index }: BoundPage): string {
  return index === undefined ? '' : `INDEXED BY ${quoted(index)}`
}

/** Returns the access path for a filter that selects a range of an index, which is not in creation order. */
function wayOf(database: PageDatabase, run: BoundPage): Way {
  const plan = planOf(database, run, 'any')
  if (plan.index && !(plan.sorts && plan.range)) return 'any'
  const { range, covering } = planOf(database, run, 'by an index')
  if (range && covering) return 'by an index'
  return plan.index ? 'in order' : 'any'
}

interface Plan {
  readonly index: boolean
  readonly covering: boolean
  readonly range: boolean
  readonly sorts: boolean
}

function planOf(database: PageDatabase, run: BoundPage, way: Way): Plan {
  const { sql, params } = inCreationOrder(run, { wanted: 1, above: 0, way })
  const steps = database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...params)
    .map(({ detail }) => String(detail).replaceAll(/rowid[<>]=?\?/g, ''))
  return {
    index: steps.some((step) => /USING (?:COVERING )?INDEX/.test(step)),
    covering: steps.some((step) => step.includes('USING COVERING INDEX')),
    range: steps.some((step) => /USING (?:COVERING )?INDEX .*\(.*[<>]/.test(step)),
    sorts: steps.some((step) => step.includes('TEMP B-TREE FOR ORDER BY')),
  }
}
