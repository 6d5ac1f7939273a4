import { checkParamCount } from '../../rules/sql/sql-errors.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { JsonBytes, Page } from '../../sheet-store.ts'
import type { Database } from '../database/database.ts'
import { asRecordsError, isConnectionFault, sqlState } from '../database/errors.ts'
import { ReaderAccess } from './reader-access.ts'
import { runFailureGroups, type FailureGroupsRun } from './run-failure-groups.ts'
import { runPage, type PageRun } from './run-page.ts'
import { runPosition, type PositionRun } from './run-position.ts'
import { runQuery, type QueryOfFields } from './run-query.ts'
import { runSummary, type SummaryRun } from './run-summary.ts'
import { checkFilter, checkStatement, type CheckedSql } from './sql-checks.ts'
import { SqlConnection, type SqlWork } from './sql-connection.ts'
import { noSuchTable, toQueryError } from './sql-errors.ts'
import { otherTable } from './sql-guard.ts'
import { MAX_ROW_BYTES } from './sql-limits.ts'
import { MAX_RESPONSE_BYTES, type QueryLimits } from '../../query-limits.ts'
import { SqlQueue } from './sql-queue.ts'
import { LostAtRest, type SqlSession } from './sql-session.ts'
import type { TypedField } from '../database/columns.ts'

export { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'

/** A request with a filter from a user. */
type FilteredRun = Pick<PageRun, 'filter' | 'where' | 'allFields'>

export interface SqlPoolOptions {
  readonly database: Database
  readonly limits: QueryLimits
  /**
   * Milliseconds that a request may wait for a connection. Default: enough for two rounds of queries that run to their
   * deadline.
   */
  readonly maxWaitMs?: number
  /** Milliseconds after its beginning for which an abandoned request may go on (default: 150). */
  readonly graceMs?: number
}

/**
 * Runs SQL from users on separate connections, in read-only transactions, as a role that may only read the records (D18,
 * D19). Names in it are first checked against the database. Connections are made when they are needed. A request whose
 * signal aborts rejects with its reason: it leaves the queue, or is stopped.
 */
export class SqlPool {
  readonly #database: Database
  readonly #limits: QueryLimits
  readonly #access: ReaderAccess
  readonly #queue: SqlQueue

  constructor({ database, limits, maxWaitMs, graceMs }: SqlPoolOptions) {
    this.#database = database
    this.#limits = limits
    this.#access = new ReaderAccess(database)
    this.#queue = new SqlQueue({
      open: () => SqlConnection.open(database, limits),
      timeoutMs: limits.timeoutMs,
      maxWaitMs: maxWaitMs ?? 2 * limits.timeoutMs + 5000,
      ...(graceMs === undefined ? {} : { graceMs }),
    })
  }

  /**
   * Runs one SELECT (D18) and returns the query result. Throws QueryError for errors in the statement and for results
   * beyond the limits (D19).
   */
  async query({ allFields, ...statement }: QueryOfFields, signal?: AbortSignal): Promise<JsonBytes> {
    const { params, columns = false } = statement
    checkParamCount(params.length)
    const sql = checkStatement(statement.sql.toWellFormed(), params.length, namesOf(allFields))
    const characters = params.reduce<number>(
      (sum, param) => sum + (typeof param === 'string' ? param.length : 1),
      sql.text.length,
    )
    const { maxRows } = this.#limits
    return this.#run({
      sql,
      characters,
      rowBytes: MAX_ROW_BYTES,
      signal,
      work: (session) => runQuery(session, { sql, params, columns, maxRows }),
    })
  }

  /** Returns a filtered or sorted page (D11, D16). Throws QueryError. */
  page(page: PageRun, signal?: AbortSignal): Promise<Page> {
    return this.#filtered(page, runPage, signal)
  }

  /** Returns the number of records before one in a list; null when it is not in the list. Throws QueryError. */
  position(run: PositionRun, signal?: AbortSignal): Promise<number | null> {
    return this.#filtered(run, runPosition, signal)
  }

  /** Returns a {@link Summary} as JSON text. Throws QueryError. */
  summary(run: SummaryRun, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#filtered(run, runSummary, signal)
  }

  /** Returns FailureGroups as JSON text. Throws QueryError. */
  failureGroups(run: FailureGroupsRun, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#filtered(run, runFailureGroups, signal)
  }

  /** Runs `work` in a session, in which SQL from users with these names is then confined. Throws QueryError. */
  within<T>(request: SqlRequest<T>): Promise<T> {
    return this.#run({ ...request, rowBytes: MAX_ROW_BYTES })
  }

  /** Closes all connections; requests that wait or are under way fail. Resolves when the connections are closed. */
  close(): Promise<void> {
    return this.#queue.close()
  }

  /** Runs a request with a filter from a user, once that is checked. */
  async #filtered<R extends FilteredRun, T>(
    run: R,
    work: (
      session: SqlSession,
      run: Omit<R, 'filter'> & { readonly filter: CheckedSql | null },
    ) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const filter = checked(run)
    return this.#run({
      sql: filter,
      characters: charactersOf(run),
      rowBytes: MAX_RESPONSE_BYTES,
      signal,
      work: (session) => work(session, { ...run, filter }),
    })
  }

  async #run<T>(request: Request<T>): Promise<T> {
    const attempt = (): Promise<T> =>
      this.#queue.run({
        characters: request.characters,
        signal: request.signal,
        work: async (connection) => connection.run({ ...request, role: await this.#access.role() }),
      })
    try {
      try {
        return await attempt()
      } catch (error) {
        // Retries: nothing was changed, and what was lost is recreated.
        if (!this.#access.isLost(error) && !(error instanceof LostAtRest)) throw error
        return await attempt()
      }
    } catch (error) {
      throw await this.#errorOf(error, request.sql)
    }
  }

  /** Converts an error to the one that the caller receives. */
  async #errorOf(thrown: unknown, sql: CheckedSql | null): Promise<unknown> {
    const error = thrown instanceof LostAtRest ? thrown.cause : thrown
    if (sqlState(error) === undefined || isConnectionFault(error)) return asRecordsError(error)
    if (sql !== null) {
      const other = await otherTable(this.#database, sql.names)
      if (other !== null) return new QueryError(noSuchTable(other), 'unknown_table')
    }
    const { schema } = this.#database.location
    return asRecordsError(toQueryError(error, [`${schema}.`, `"${schema}".`]))
  }
}

/** Work with SQL from a user. */
export interface SqlRequest<T> extends Pick<SqlWork<T>, 'work'> {
  readonly sql: CheckedSql
  /** The approximate number of characters in memory while the request waits. */
  readonly characters: number
  readonly signal: AbortSignal | undefined
}

interface Request<T> extends Omit<SqlWork<T>, 'role'> {
  /** SQL from a user; null for none. */
  readonly sql: CheckedSql | null
  /** The approximate number of characters in memory while the request waits. */
  readonly characters: number
  readonly signal: AbortSignal | undefined
}

/** Returns the approximate number of characters that a request keeps in memory while it waits. */
function charactersOf({ filter, where }: FilteredRun): number {
  return (filter?.length ?? 0) + (where ? JSON.stringify(where).length : 0)
}

function checked({ filter, allFields }: FilteredRun): CheckedSql | null {
  return filter === null ? null : checkFilter(filter.toWellFormed(), namesOf(allFields))
}

function namesOf(fields: readonly TypedField[]): ReadonlySet<string> {
  return new Set(fields.map(({ name }) => name))
}
