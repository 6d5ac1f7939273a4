import { StoppingError } from '../../../errors/service-error.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { FormulaRow } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import type { QueryPass, QueryResults, QueryRow, RecordsQueries, RecordsQuery } from '../../records-query.ts'
import { inTurns } from '../../rules/sql/query-turns.ts'
import { SqlProcess } from '../sql/sql-process.ts'
import type { RecordsQueryOutcome } from '../sql/sql-protocol.ts'

/** Milliseconds after which an idle process ends, with the copy of the records in it. */
const IDLE_MS = 10_000

export interface QueryProcessOptions {
  /** The database file. */
  readonly path: string
  readonly limits: QueryLimits
  /** Returns the present version of the fields that a query reads; null if the store keeps none. */
  version(query: RecordsQuery): string | null
}

/** Runs queries of derivations in a process of its own, which starts with the first and ends when it is idle. */
export class QueryProcess implements RecordsQueries {
  readonly #options: QueryProcessOptions
  #process: SqlProcess | null = null
  /** Settles when the process is free. */
  #free: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #closed = false
  /** The number of queries without a version, whose copies are not used again. */
  #unversioned = 0

  constructor(options: QueryProcessOptions) {
    this.#options = options
  }

  async compute(
    query: RecordsQuery,
    rows: readonly FormulaRow[],
    pass: QueryPass,
    signal: AbortSignal,
  ): Promise<QueryResults> {
    // Before the records are read: what is computed is of this version or a later one.
    const version = this.#options.version(query)
    const copy = version ?? `none ${(this.#unversioned += 1)}`
    const computed = await inTurns(rows, pass, (some) =>
      this.#inTurn({ query, version: copy, rows: some }, signal),
    )
    return { version, rows: computed }
  }

  /** Ends the process; queries fail. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    this.#process?.kill()
    await this.#process?.ended
  }

  #inTurn(part: Part, signal: AbortSignal): Promise<readonly Result<QueryRow, string>[]> {
    const computed = this.#free.then(() => this.#compute(part, signal))
    this.#free = computed.catch(() => undefined)
    return computed
  }

  async #compute(
    { query, version, rows }: Part,
    signal: AbortSignal,
  ): Promise<readonly Result<QueryRow, string>[]> {
    signal.throwIfAborted()
    if (this.#closed) throw closing()
    clearTimeout(this.#idle)
    const process = this.#usable()
    const stop = (): void => process.kill()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await process.ready
      const { json } = await process.run({ kind: 'records-query', query, version, rows })
      const outcomes = JSON.parse(json.toString()) as readonly RecordsQueryOutcome[]
      return outcomes.map((outcome) => ('error' in outcome ? err(outcome.error) : ok(outcome.row)))
    } catch (error) {
      signal.throwIfAborted()
      throw this.#closed ? closing() : error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#idle = setTimeout(() => this.#process?.kill(), IDLE_MS).unref()
    }
  }

  #usable(): SqlProcess {
    const { path, limits } = this.#options
    if (this.#process?.usable !== true) this.#process = new SqlProcess(path, limits)
    return this.#process
  }
}

interface Part {
  readonly query: RecordsQuery
  readonly version: string
  readonly rows: readonly FormulaRow[]
}

function closing(): StoppingError {
  return new StoppingError('the sheet is being closed')
}
