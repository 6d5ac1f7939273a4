import type { BenchSheets } from './bench-sheets.ts'
import type { ServerProcess } from './processes.ts'

/** A program that serves records over REST. */
export interface Program {
  /** Its name in the report, with remarks for comparing it. */
  readonly name: string
  /** Loads records 1 to `records` of the bench sheet, so that it only has to be started from then on. */
  prepare(sheets: BenchSheets, records: number): Promise<Prepared>
}

export interface Prepared {
  start(): Promise<ServerProcess>
  /** Returns the path of the record with an id. */
  recordPath(id: string): string
  /** Returns the path of a page of 50 records. `page` counts from 0. */
  pagePath(page: number): string
  /** Returns the request that sets another `count` in the record with an id. */
  write(id: string, count: number): WriteRequest
}

export interface WriteRequest {
  readonly method: 'POST' | 'PATCH' | 'PUT'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
