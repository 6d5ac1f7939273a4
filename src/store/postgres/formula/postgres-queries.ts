import { QueryError } from '../../../errors/service-error.ts'
import { ok } from '../../../errors/result.ts'
import { MAX_FORMULA_VALUES, type FormulaRow } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import type { QueryPass, QueryResults, RecordsQueries, RecordsQuery } from '../../records-query.ts'
import { inTurns } from '../../rules/sql/query-turns.ts'
import { queryVersion } from '../../rows/stored-targets.ts'
import type { Database } from '../database/database.ts'
import { checkRecordsQuery, type CheckedRecordsQuery } from '../sql/sql-checks.ts'
import { SqlPool } from '../sql/sql-pool.ts'
import type { SqlSession } from '../sql/sql-session.ts'
import type { Outcome } from './found-rows.ts'
import { PassRows } from './pass-rows.ts'
import { QueryStatement } from './query-statement.ts'
import { isOrdered } from './read-query.ts'
import { loadParser, type Parse } from './syntax-tree.ts'

/** The number of statements at a time. */
const CONCURRENT = 2

/** Milliseconds after which no other record is begun in a transaction. */
const TURN_MS = 1000

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
  readonly #passes = new WeakMap<QueryPass, PassState>()

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
    const state = await this.#stateOf(query, pass)
    const kept = version === null ? null : state.rowsOf(version)
    const keys = rows.map((row) => JSON.stringify(row))
    const known = keys.map((key) => kept?.get(key))
    const unknown = rows.filter((_, index) => known[index] === undefined)
    const computed = await inTurns(unknown, pass, (some) =>
      this.#inTurn(() => this.#compute(state, some, signal)),
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

  /** Returns the state of a pass, a new one for another query than before. */
  async #stateOf(query: RecordsQuery, pass: QueryPass): Promise<PassState> {
    const of = JSON.stringify(query)
    const known = this.#passes.get(pass)
    if (known?.of === of) return known
    this.#parse ??= loadParser()
    const { statement, listed, inputs } = query
    const sql = checkRecordsQuery(statement, { listed, fields: inputs })
    const ordered = isOrdered(await this.#parse, sql.text)
    const state = new PassState(of, sql, new QueryStatement({ query, sql, ordered }))
    this.#passes.set(pass, state)
    return state
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  #compute(
    { sql, statement }: PassState,
    rows: readonly FormulaRow[],
    signal: AbortSignal,
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    const end = performance.now() + TURN_MS
    const work = async (session: SqlSession): Promise<readonly Outcome[]> => {
      await session.confine(sql.names)
      const parsed = await statement.parse(session)
      let left = MAX_FORMULA_VALUES
      // At least once, however long the connection took.
      do {
        const some = rows.slice(outcomes.length, outcomes.length + parsed.size)
        const found = await parsed.run(session, some)
        left -= found.bytes
        outcomes.push(...found.outcomes)
      } while (outcomes.length < rows.length && left >= 0 && performance.now() < end)
      return outcomes
    }
    const characters = sql.text.length + JSON.stringify(rows).length
    return this.#pool.within({ sql, characters, signal, work }).catch((error: unknown) => {
      if (!(error instanceof QueryError)) throw error
      statement.failed()
      // The rows before those that failed have their results.
      if (outcomes.length > 0) return outcomes
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

/** The state of a query in one pass over the records. */
class PassState {
  /** Identifies the query. */
  readonly of: string
  readonly sql: CheckedRecordsQuery
  readonly statement: QueryStatement
  /** The rows that the query returned so far, of one version. */
  #rows = new PassRows('')

  constructor(of: string, sql: CheckedRecordsQuery, statement: QueryStatement) {
    this.of = of
    this.sql = sql
    this.statement = statement
  }

  /** Returns the rows of a version, none for another one than before. */
  rowsOf(version: string): PassRows {
    if (this.#rows.of !== version) this.#rows = new PassRows(version)
    return this.#rows
  }
}
