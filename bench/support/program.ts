import type { DirectorySheets } from './bench-sheets.ts'
import type { OrderFilter } from './orders.ts'
import type { ServerProcess } from './processes.ts'

/** A program that serves records over REST. */
export interface Program {
  /** Its name in the report, with its version if it has one. */
  readonly name: string
  /** Loads records 1 to `records` of a bench sheet, so that it only has to be started from then on. */
  prepare(sheets: DirectorySheets, records: number): Promise<Prepared>
  /** Imports a CSV file of {@link orderRecord}s by a command into an empty directory; absent if it cannot. */
  importCsv?(directory: string, file: string): Promise<unknown>
}

/** A program with its records. The requests that it may lack are for records of 9 fields. */
export interface Prepared {
  start(): Promise<ServerProcess>
  /** Returns the path of the record with an id. */
  recordPath(id: string): string
  /** Returns the path of a page of 50 records. `page` counts from 0. */
  pagePath(page: number): string
  /** Returns the request that sets another `count` in the record with an id. */
  write(id: string, count: number): ProgramRequest
  /** Returns the path of a page of 50 records with this customer and amount, the largest amounts first. */
  filteredPath?(filter: OrderFilter): string
  /** Returns the one request that inserts or updates all these records. */
  upsert?(records: readonly object[]): ProgramRequest
  /** Returns the request of `SELECT 1`. */
  selectOne?(): ProgramRequest
  /** Returns the request of the number of records and their mean amount for each kind. `turn` makes its text another. */
  groupBy?(turn: number): ProgramRequest
}

export interface ProgramRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** The aggregation that {@link Prepared.groupBy} requests, over a table of this name. */
export function groupBySql(table: string, turn: number): string {
  return `SELECT kind, count(*) AS records, avg(amount) AS mean, ${turn} AS turn FROM ${table} GROUP BY kind`
}
