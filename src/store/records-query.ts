import type { LogicalType } from '../contract/contract.ts'
import type { JsonValue } from '../contract/json/json.ts'
import type { Result } from '../errors/result.ts'
import type { FormulaField, FormulaRow } from './formula.ts'

/** One read-only statement over all records, with values of the record at hand, in the SQL dialect of the store. */
export interface RecordsQuery {
  /** The text in the file, unchanged. */
  readonly statement: string
  /** The fields that `?` stand for, in their order. */
  readonly listed: readonly string[]
  /** The fields of the record at hand whose values it needs. */
  readonly inputs: readonly FormulaField[]
  /** The fields that it reads in all records. */
  readonly reads: readonly FormulaField[]
  /** The fields that it fills, with the types that their values have in the contract. */
  readonly targets: readonly { readonly name: string; readonly type: LogicalType }[]
}

/** The values of the targets in the row that a query returns; null for no row. */
export type QueryRow = { readonly [target: string]: JsonValue } | null

/** The results of a query. */
export interface QueryResults {
  /** The version of the fields that it reads: the results are those of this state of the records, or of a later one. */
  readonly version: string | null
  /** One for each record, in their order. */
  readonly rows: readonly Result<QueryRow, string>[]
}

/** Runs queries of derivations within the limits of SQL from users (D19), apart from the main thread and from queries of users. */
export interface RecordsQueries {
  /**
   * Runs a query with the values of its inputs in each of some records. Throws RecordsError for a store that cannot be used, and the
   * reason of the signal once that aborts.
   */
  compute(
    query: RecordsQuery,
    rows: readonly FormulaRow[],
    pass: QueryPass,
    signal: AbortSignal,
  ): Promise<QueryResults>
}

/** The state of a query in one pass over the records: a query that exceeds its limits repeatedly is not tried for every record. */
export interface QueryPass {
  /** The reason why the query is not tried any more; null if it is. */
  readonly given: string | null
  succeeded(): void
  /** Notes that the query failed for a record, and whether a limit stopped it. */
  failed(reason: string, wasStopped: boolean): void
}
