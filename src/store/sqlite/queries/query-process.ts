import { err, ok, type Result } from '../../../errors/result.ts'
import type { FormulaRow } from '../../formula.ts'
import type { QueryLimits } from '../../query-limits.ts'
import type { QueryPass, QueryResults, QueryRow, RecordsQueries, RecordsQuery } from '../../records-query.ts'
import { inTurns } from '../../rules/sql/query-turns.ts'
import { ProcessOnDemand } from './process-on-demand.ts'
import type { RecordsQueryOutcome } from '../sql/sql-protocol.ts'

export interface QueryProcessOptions {
  /** The database file. */
  readonly path: string
  readonly limits: QueryLimits
  /** Returns the present version of the fields that a query reads; null if the store keeps none. */
  version(query: RecordsQuery): string | null
}

/**
 * Runs queries of derivations in a process of its own, which starts with the first and ends when it is idle, with the copy of the records
 * in it.
 */
export class QueryProcess implements RecordsQueries {
  readonly #process: ProcessOnDemand
  readonly #version: QueryProcessOptions['version']
  /** The number of queries without a version, whose copies are not used again. */
  #unversioned = 0

  constructor({ path, limits, version }: QueryProcessOptions) {
    this.#process = new ProcessOnDemand(path, limits)
    this.#version = version
  }

  async compute(
    query: RecordsQuery,
    rows: readonly FormulaRow[],
    pass: QueryPass,
    signal: AbortSignal,
  ): Promise<QueryResults> {
    // Before the records are read: what is computed is of this version or a later one.
    const version = this.#version(query)
    const copy = version ?? `none ${(this.#unversioned += 1)}`
    const computed = await inTurns(rows, pass, async (some) => {
      const request = { kind: 'records-query', query, version: copy, rows: some } as const
      const outcomes = (await this.#process.run(request, signal)) as unknown
      return (outcomes as readonly RecordsQueryOutcome[]).map((outcome): Result<QueryRow, string> =>
        'error' in outcome ? err(outcome.error) : ok(outcome.row),
      )
    })
    return { version, rows: computed }
  }

  /** Ends the process; queries fail. Resolves when it has ended. */
  close(): Promise<void> {
    return this.#process.close()
  }
}
