import type { BenchSheets } from './bench-sheets.ts'
import type { ServerProcess } from './processes.ts'

/** A program that serves records over REST. */
export interface Program {
  /** Its name in the report, with what a reader must know to compare it. */
  readonly name: string
  /** Gives it records 1 to `records` of the bench sheet, so that from then on it only has to be started. */
  prepare(sheets: BenchSheets, records: number): Promise<Prepared>
}

export interface Prepared {
  start(): Promise<ServerProcess>
  /** Path of the record with an id. */
  recordPath(id: string): string
  /** Path of a page of 50 records. `page` counts from 0. */
  pagePath(page: number): string
  /** The request that gives the record with an id another `count`. */
  write(id: string, count: number): WriteRequest
}

export interface WriteRequest {
  readonly method: 'POST' | 'PATCH' | 'PUT'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
