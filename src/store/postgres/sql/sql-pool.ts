import { checkParamCount } from '../../rules/sql-errors.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { JsonBytes, Page } from '../../sheet-store.ts'
import type { Database } from '../database/database.ts'
import { asRecordsError, isConnectionFault, sqlState } from '../database/errors.ts'
import { ReaderAccess } from './reader-access.ts'
import { runPage, type PageRun } from './run-page.ts'
import { runPosition, type PositionRun } from './run-position.ts'
import { runQuery, type QueryOfFields } from './run-query.ts'
import { runSummary, type SummaryRun } from './run-summary.ts'
import { checkFilter, checkStatement, type CheckedSql } from './sql-checks.ts'
import { SqlConnection, type SqlWork } from './sql-connection.ts'
import { noSuchTable, toQueryError } from './sql-errors.ts'
import { otherTable } from './sql-guard.ts'
import { MAX_ROW_BYTES } from './sql-limits.ts'
import { MAX_ANSWER_BYTES, type QueryLimits } from '../../query-limits.ts'
import { SqlQueue } from './sql-queue.ts'
import { LostAtRest } from './sql-session.ts'
import type { TypedField } from '../database/values.ts'

export { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'

export interface SqlPoolOptions {
  readonly database: Database
  readonly limits: QueryLimits
  /**
   * How long a request may wait for a connection, in milliseconds. Unless given, long enough for two rounds of queries
   * that run to their deadline.
   */
  readonly maxWaitMs?: number
  /** How long after it began a request may go on that nobody waits for any more, in milliseconds; 150 unless given. */
  readonly patienceMs?: number
}

/**
 * Runs SQL from users on connections of their own, in transactions that only read, as a role that may read the records alone
 * (D18, D19). The names in it are held against what the database has first. Connections are made when they are needed. A
 * request whose signal aborts rejects with its reason: it leaves the queue, or is stopped.
 */
export class SqlPool {
  readonly #database: Database
  readonly #limits: QueryLimits
  readonly #access: ReaderAccess
  readonly #queue: SqlQueue

  constructor({ database, limits, maxWaitMs, patienceMs }: SqlPoolOptions) {
    this.#database = database
    this.#limits = limits
    this.#access = new ReaderAccess(database)
    this.#queue = new SqlQueue({
      open: () => SqlConnection.open(database, limits),
      timeoutMs: limits.timeoutMs,
      maxWaitMs: maxWaitMs ?? 2 * limits.timeoutMs + 5000,
      ...(patienceMs === undefined ? {} : { patienceMs }),
    })
  }

  /**
   * Runs one SELECT (D18) and answers with the query result. Throws QueryError for what is wrong with the statement and
   * for what goes past the limits (D19).
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

  /** A page that is filtered or sorted (D11, D16). Throws QueryError. */
  async page(page: PageRun, signal?: AbortSignal): Promise<Page> {
    const filter = checked(page)
    return this.#run({
      sql: filter,
      characters: charactersOf(page),
      rowBytes: MAX_ANSWER_BYTES,
      signal,
      work: (session) => runPage(session, { ...page, filter }),
    })
  }

  /** How many records of a list come before one; null when it is not in the list. Throws QueryError. */
  async position(run: PositionRun, signal?: AbortSignal): Promise<number | null> {
    const filter = checked(run)
    return this.#run({
      sql: filter,
      characters: charactersOf(run),
      rowBytes: MAX_ANSWER_BYTES,
      signal,
      work: (session) => runPosition(session, { ...run, filter }),
    })
  }

  /** A {@link Summary} as JSON text. Throws QueryError. */
  async summary(run: SummaryRun, signal?: AbortSignal): Promise<JsonBytes> {
    const filter = checked(run)
    return this.#run({
      sql: filter,
      characters: charactersOf(run),
      rowBytes: MAX_ANSWER_BYTES,
      signal,
      work: (session) => runSummary(session, { ...run, filter }),
    })
  }

  /** Ends every connection; requests that wait or are under way fail. Resolves when the connections are gone. */
  close(): Promise<void> {
    return this.#queue.close()
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
        // Once more: nothing was changed, and what was lost is made anew.
        if (!this.#access.isLost(error) && !(error instanceof LostAtRest)) throw error
        return await attempt()
      }
    } catch (error) {
      throw await this.#told(error, request.sql)
    }
  }

  /** An error as the one who asked is told of it. */
  async #told(thrown: unknown, sql: CheckedSql | null): Promise<unknown> {
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

interface Request<T> extends Omit<SqlWork<T>, 'role'> {
  /** From a user; null when nothing is. */
  readonly sql: CheckedSql | null
  /** About how much memory the request takes while it waits. */
  readonly characters: number
  readonly signal: AbortSignal | undefined
}

/** About how much memory a request takes while it waits. */
function charactersOf({ filter, where }: Pick<PageRun, 'filter' | 'where'>): number {
  return (filter?.length ?? 0) + (where ? JSON.stringify(where).length : 0)
}

function checked({
  filter,
  allFields,
}: {
  readonly filter: string | null
  readonly allFields: readonly TypedField[]
}): CheckedSql | null {
  return filter === null ? null : checkFilter(filter.toWellFormed(), namesOf(allFields))
}

function namesOf(fields: readonly TypedField[]): ReadonlySet<string> {
  return new Set(fields.map(({ name }) => name))
}
