import type { FieldDef } from 'pg'
import type { JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import { MAX_FORMULA_VALUES, type FormulaRow } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import type { QueryPass, QueryResults, QueryRow, RecordsQueries, RecordsQuery } from '../../records-query.ts'
import { inTurns } from '../../rules/sql/query-turns.ts'
import { severalRows, valueTooLarge } from '../../rules/sql/sql-errors.ts'
import { queryVersion } from '../../rows/stored-targets.ts'
import type { Database } from '../database/database.ts'
import { toColumnText } from '../database/values.ts'
import { toJsonOf } from '../sql/column-json.ts'
import { checkRecordsQuery, type CheckedRecordsQuery } from '../sql/sql-checks.ts'
import { SqlPool } from '../sql/sql-pool.ts'
import type { SqlSession } from '../sql/sql-session.ts'
import type { ColumnText } from '../sql/wire-query.ts'
import { PassRows } from './pass-rows.ts'
import { isOrdered } from './read-query.ts'
import { loadParser, type Parse } from './syntax-tree.ts'

/** The number of statements at a time. */
const CONCURRENT = 2

/** Milliseconds after which no other record is begun in a transaction. */
const TURN_MS = 1000

/** Numbers that JSON lacks. */
const ENDLESS: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])

type Outcome = Result<QueryRow, string>

/**
 * Runs queries of derivations on connections of their own, as the role and within the limits of SQL from users: many records in one
 * read-only transaction, which sees one state of the records.
 */
export class PostgresQueries implements RecordsQueries {
  readonly #database: Database
  readonly #pool: SqlPool
  #parse: Promise<Parse> | null = null
  /** Settle when a statement may be sent, used in turn. */
  readonly #lanes: Promise<unknown>[] = Array.from({ length: CONCURRENT }, () => Promise.resolve())
  #next = 0
  /** The rows that passes have so far. */
  readonly #rows = new WeakMap<QueryPass, PassRows>()

  constructor(database: Database, limits: QueryLimits) {
    this.#database = database
    this.#pool = new SqlPool({ database, limits })
  }

  async compute(
    query: RecordsQuery,
    rows: readonly FormulaRow[],
    pass: QueryPass,
    signal: AbortSignal,
  ): Promise<QueryResults> {
    // Before the records are read: what is computed is of this version or a later one.
    const version = await this.#database.query(queryVersion(query))
    this.#parse ??= loadParser()
    const { statement, listed, inputs } = query
    const sql = checkRecordsQuery(statement, { listed, fields: inputs })
    const ordered = isOrdered(await this.#parse, sql.text)
    const kept = version === null ? null : this.#rowsOf(pass, JSON.stringify([version, query]))
    const keys = rows.map((row) => JSON.stringify(row))
    const known = keys.map((key) => kept?.get(key))
    const unknown = rows.filter((_, index) => known[index] === undefined)
    const computed = await inTurns(unknown, pass, (some) =>
      this.#inTurn(() => this.#compute({ query, sql, ordered, rows: some, signal })),
    )
    let next = 0
    const outcomes = known.map((row, index): Outcome => {
      if (row !== undefined) return ok(row)
      const outcome = computed[next++]
      if (outcome === undefined) throw new Error('a query has no result')
      if (outcome.ok) kept?.set(keys[index] ?? '', outcome.value)
      return outcome
    })
    return { version, rows: outcomes }
  }

  /** Returns the rows of a pass, none for another query or version than before. */
  #rowsOf(pass: QueryPass, of: string): PassRows {
    const known = this.#rows.get(pass)
    const rows = known?.of === of ? known : new PassRows(of)
    this.#rows.set(pass, rows)
    return rows
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  #compute({ query, sql, ordered, rows, signal }: Part): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    const end = performance.now() + TURN_MS
    const work = async (session: SqlSession): Promise<readonly Outcome[]> => {
      await session.confine(sql.names)
      const columns = await session.parse(
        sql.text,
        sql.inputs.map(() => ({ text: null, type: 0 })),
      )
      let left = MAX_FORMULA_VALUES
      for (const row of rows) {
        const found = await firstRow(session, { query, sql, ordered, row, columns })
        left -= found.bytes
        if (outcomes.length > 0 && (left < 0 || performance.now() > end)) break
        outcomes.push(found.outcome)
      }
      return outcomes
    }
    const characters = sql.text.length + JSON.stringify(rows).length
    return this.#pool.within({ sql, characters, signal, work }).catch((error: unknown) => {
      // The rows before the one that failed have their results.
      if (error instanceof QueryError && outcomes.length > 0) return outcomes
      throw error
    })
  }

  /** Waits for a lane, however long: the queue of the pool refuses what waits too long. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#next++ % CONCURRENT
    const done = (this.#lanes[lane] ?? Promise.resolve()).then(work)
    this.#lanes[lane] = done.catch(() => undefined)
    return done
  }
}

interface Part extends Pick<OneRow, 'query' | 'sql' | 'ordered'> {
  readonly rows: readonly FormulaRow[]
  readonly signal: AbortSignal
}

interface OneRow {
  readonly query: RecordsQuery
  readonly sql: CheckedRecordsQuery
  /** Whether one of several rows comes first. */
  readonly ordered: boolean
  readonly row: FormulaRow
  /** The columns of the statement, which was parsed before. */
  readonly columns: readonly FieldDef[]
}

async function firstRow(
  session: SqlSession,
  { query, sql, ordered, row, columns }: OneRow,
): Promise<{ readonly outcome: Outcome; readonly bytes: number }> {
  const { inputs, targets } = query
  const names = columns.map(({ name }) => name)
  const places = targets.map(({ name }) =>
    targets.length === 1 && names.length === 1 ? 0 : names.indexOf(name),
  )
  const lacks = targets.find((_, index) => places[index] === -1)
  if (lacks !== undefined) throw new QueryError(`the query has no column ${lacks.name}`)
  let count = 0
  let bytes = 0
  let outcome: Outcome = ok(null)
  const onRow = (texts: readonly ColumnText[]): void => {
    count += 1
    if (count > 1) return
    for (const text of texts) bytes += text === null ? 4 : Buffer.byteLength(text)
    if (bytes > MAX_FORMULA_VALUES) throw valueTooLarge()
    const values: Record<string, JsonValue> = {}
    for (const [index, { name }] of targets.entries()) {
      const place = places[index] ?? 0
      const [text, column] = [texts[place] ?? null, columns[place]]
      if (text === null || column === undefined) values[name] = null
      else {
        const json = toJsonOf(column)(text)
        if (json === 'null' && ENDLESS.has(text)) outcome = err('the result is infinite, or no number')
        values[name] = JSON.parse(json) as JsonValue
      }
    }
    if (outcome.ok) outcome = ok(values)
  }
  const values = sql.inputs.map((name) => {
    const index = inputs.findIndex((input) => input.name === name)
    const field = inputs[index]
    return field === undefined ? null : toColumnText(field, row[index] ?? null)
  })
  await session.run({ values, rows: ordered ? 1 : 2, onRow })
  if (count > 1 && !ordered) return { outcome: err(severalRows().message), bytes }
  return { outcome, bytes }
}
