import { StoppingError } from '../../../errors/service-error.ts'
import { IdleTimer } from '../database/idle-timer.ts'
import type { JsonBytes, Page } from '../../sheet-store.ts'
import { typed, type TypedField } from './json-columns.ts'
import type { PageRun } from './run-page.ts'
import type { PositionRun } from './run-position.ts'
import type { FailureGroupsRun } from './run-failure-groups.ts'
import type { SummaryRun } from './run-summary.ts'
import type { SortTerm } from './sort-sql.ts'
import { checkParamCount, checkSqlLength, tooManyQueries } from '../../rules/sql/sql-errors.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { SqlProcess, type SqlResult } from './sql-process.ts'
import type { FormulaRequest, QueryOfFields, RecordsQueryRequest, SqlRequest } from './sql-protocol.ts'

export { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../../query-limits.ts'

/** The number of concurrent queries. Beside those that are needed one more process is ready, for the next query or to replace a killed one. */
const CONCURRENT = 2
const SPARE = 1

/** Milliseconds without a query after which the processes end. */
const IDLE_MS = 30_000

/**
 * Milliseconds after its beginning for which an abandoned request may go on: to finish it costs less than to start a new
 * process, which takes about that long.
 */
const GRACE_MS = 150

/** The most requests that may wait, and the most characters of their SQL and params, which can be as long as a body. */
const MAX_WAITING = 1000
const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024

/** Formulas and queries of derivations have processes of their own, so that runs and queries do not wait for each other. */
type PoolRequest = Exclude<SqlRequest, FormulaRequest | RecordsQueryRequest>

interface Waiting {
  readonly request: PoolRequest
  readonly resolve: (result: SqlResult) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
  readonly characters: number
  /** The process that carries the request out; null while it waits. */
  process: SqlProcess | null
}

export interface SqlPoolOptions {
  /** The database file, which must exist by the first request. */
  readonly path: string
  readonly limits: QueryLimits
  /**
   * Milliseconds that a request may wait for a process. Default: enough for two rounds of queries that run to their
   * deadline and for the first process to start.
   */
  readonly maxWaitMs?: number
  /** Milliseconds after its beginning for which an abandoned request may go on (default: 150). */
  readonly graceMs?: number
  /** Milliseconds without a request after which the processes end (default: 30,000). */
  readonly idleMs?: number
}

/**
 * Runs SQL from users in separate processes, which can be killed, so that no query costs the server more than its response
 * (D18, D19). The first process starts with the first request, others while requests run; all end when there are none for a while. A
 * request whose signal aborts rejects with its reason: it leaves the queue, or is stopped.
 */
export class SqlPool {
  readonly #path: string
  readonly #limits: QueryLimits
  readonly #maxWaitMs: number
  readonly #graceMs: number
  /** All processes that have not ended; killed ones are no longer usable. */
  readonly #processes = new Set<SqlProcess>()
  readonly #idle: SqlProcess[] = []
  readonly #waiting: Waiting[] = []
  /** Restarted whenever a process becomes idle. */
  readonly #rest: IdleTimer
  #waitingCharacters = 0
  #running = 0
  #starting = false
  #closed = false

  constructor({ path, limits, maxWaitMs, graceMs = GRACE_MS, idleMs = IDLE_MS }: SqlPoolOptions) {
    this.#path = path
    this.#limits = limits
    this.#graceMs = graceMs
    this.#maxWaitMs = maxWaitMs ?? 2 * limits.timeoutMs + 5000
    this.#rest = new IdleTimer(idleMs, () => this.#endIdle())
  }

  /**
   * Runs one SELECT (D18) and returns the query result. Throws QueryError for errors in the statement and for results
   * beyond the limits (D19).
   */
  async query({ allFields, ...statement }: QueryOfFields, signal?: AbortSignal): Promise<JsonBytes> {
    const { sql, params } = statement
    // Checked here as well as in the process, since waiting requests take memory.
    checkSqlLength(sql, 'statement')
    checkParamCount(params.length)
    const result = await this.#run({ ...statement, kind: 'query', allFields: typed(allFields) }, signal)
    return result.json
  }

  /** Returns a filtered or sorted page (D11, D16). Throws QueryError. */
  async page({ fields, allFields, sort, ...page }: PageRun, signal?: AbortSignal): Promise<Page> {
    if (page.filter !== null) checkSqlLength(page.filter, 'filter')
    const request: PoolRequest = {
      ...page,
      kind: 'page',
      fields: typed(fields),
      allFields: typed(allFields),
      sort: typedTerms(sort),
    }
    const result = await this.#run(request, signal)
    return { records: result.json, next: result.next }
  }

  /** Returns the number of records before one in a list; null when it is not in the list. Throws QueryError. */
  async position(
    { allFields, sort, ...position }: PositionRun,
    signal?: AbortSignal,
  ): Promise<number | null> {
    if (position.filter !== null) checkSqlLength(position.filter, 'filter')
    const request: PoolRequest = {
      ...position,
      kind: 'position',
      allFields: typed(allFields),
      sort: typedTerms(sort),
    }
    const { json } = await this.#run(request, signal)
    return JSON.parse(json.toString()) as number | null
  }

  /** Returns a {@link Summary} as JSON text. Throws QueryError. */
  async summary({ fields, allFields, ...summary }: SummaryRun, signal?: AbortSignal): Promise<JsonBytes> {
    if (summary.filter !== null) checkSqlLength(summary.filter, 'filter')
    const request: PoolRequest = {
      ...summary,
      kind: 'summary',
      fields: fields.map((field) => ({ ...typedField(field), primaryKey: field.primaryKey })),
      allFields: typed(allFields),
    }
    return (await this.#run(request, signal)).json
  }

  /** Returns FailureGroups as JSON text. Throws QueryError. */
  async failureGroups({ allFields, ...run }: FailureGroupsRun, signal?: AbortSignal): Promise<JsonBytes> {
    if (run.filter !== null) checkSqlLength(run.filter, 'filter')
    const request: PoolRequest = { ...run, kind: 'failures', allFields: typed(allFields) }
    return (await this.#run(request, signal)).json
  }

  /** Ends all processes; requests that wait or are under way fail. Resolves when the processes have ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rest.cancel()
    this.#rejectWaiting(closing())
    const processes = [...this.#processes]
    for (const process of processes) process.kill()
    await Promise.all(processes.map(({ ended }) => ended))
  }

  async #run(request: PoolRequest, signal: AbortSignal | undefined): Promise<SqlResult> {
    signal?.throwIfAborted()
    const { waiting, result } = this.#enqueue(request)
    if (signal === undefined) return result
    const giveUp = (): void => {
      this.#dequeue(waiting)
      waiting.process?.abandon(this.#graceMs)
      waiting.reject(signal.reason as Error)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await result
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Adds a request to the queue. Throws QueryError when the queue is full. */
  #enqueue(request: PoolRequest): { readonly waiting: Waiting; readonly result: Promise<SqlResult> } {
    if (this.#closed) throw closing()
    const characters = charactersOf(request)
    // The first in the queue may have any length; otherwise it could never run.
    const tooLong = this.#waiting.length > 0 && this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS
    if (tooLong || this.#waiting.length >= MAX_WAITING) throw tooManyQueries()
    const { promise: result, resolve, reject } = Promise.withResolvers<SqlResult>()
    const timer = setTimeout(() => {
      this.#dequeue(waiting)
      reject(tooManyQueries())
    }, this.#maxWaitMs)
    const waiting: Waiting = { request, resolve, reject, timer, characters, process: null }
    this.#waiting.push(waiting)
    this.#waitingCharacters += characters
    this.#advance()
    return { waiting, result }
  }

  /** Removes a request from the queue, if it is there. */
  #dequeue(waiting: Waiting): void {
    const place = this.#waiting.indexOf(waiting)
    if (place < 0) return
    this.#waiting.splice(place, 1)
    this.#waitingCharacters -= waiting.characters
    clearTimeout(waiting.timer)
  }

  /** Gives waiting requests to idle processes, and starts processes as needed. */
  #advance(): void {
    while (this.#running < CONCURRENT && this.#idle.length > 0) {
      const waiting = this.#waiting.shift()
      if (waiting === undefined) break
      const process = this.#idle.pop()
      if (process?.usable === true) void this.#serve(process, waiting)
      else this.#waiting.unshift(waiting)
    }
    const needed = Math.min(this.#running + this.#waiting.length, CONCURRENT)
    // Without requests, those that are there are enough.
    if (needed === 0 || this.#starting || this.#closed) return
    if (this.#usableCount() < needed + SPARE) void this.#start()
  }

  #addIdle(process: SqlProcess): void {
    this.#idle.push(process)
    this.#rest.restart()
  }

  /** Ends the idle processes, unless a request runs. */
  #endIdle(): void {
    if (this.#running > 0) return
    for (const process of this.#idle.splice(0)) process.kill()
  }

  #usableCount(): number {
    return [...this.#processes].filter(({ usable }) => usable).length
  }

  async #serve(process: SqlProcess, waiting: Waiting): Promise<void> {
    const { request, resolve, reject, timer } = waiting
    clearTimeout(timer)
    this.#waitingCharacters -= waiting.characters
    this.#running += 1
    waiting.process = process
    try {
      resolve(await process.run(request))
    } catch (error) {
      reject(this.#closed ? closing() : (error as Error))
    } finally {
      waiting.process = null
      this.#running -= 1
      if (process.usable) this.#addIdle(process)
      this.#advance()
    }
  }

  async #start(): Promise<void> {
    this.#starting = true
    try {
      const process = new SqlProcess(this.#path, this.#limits)
      this.#processes.add(process)
      void process.ended.then(() => this.#processes.delete(process))
      await process.ready
      this.#addIdle(process)
    } catch (error) {
      // The next request tries again; with no other process, the waiting ones would never run.
      if (this.#usableCount() === 0) this.#rejectWaiting(error as Error)
      return
    } finally {
      this.#starting = false
    }
    this.#advance()
  }

  #rejectWaiting(error: Error): void {
    this.#waitingCharacters = 0
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(error)
    }
  }
}

/** Returns the approximate number of characters that a request keeps in memory while it waits. */
function charactersOf(request: PoolRequest): number {
  if (request.kind !== 'query') {
    return (request.filter?.length ?? 0) + (request.where ? JSON.stringify(request.where).length : 0)
  }
  return request.params.reduce<number>(
    (sum, param) => sum + (typeof param === 'string' ? param.length : 1),
    request.sql.length,
  )
}

function typedTerms(terms: readonly SortTerm[]): readonly SortTerm[] {
  return terms.map((term) => ({ ...term, field: typedField(term.field) }))
}

function typedField({ name, type }: TypedField): TypedField {
  return { name, type }
}

function closing(): StoppingError {
  return new StoppingError('the sheet is being closed')
}
