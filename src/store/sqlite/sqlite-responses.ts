import {
  keptResponse,
  responsesSummary,
  timeOf,
  type KeptNote,
  type KeptResponse,
  type RecordedPage,
  type ResponsesSummary,
  type ResponseStore,
  type ResponseTrim,
  type TrimResult,
} from '../stored-responses.ts'
import { hashBytes } from '../rows/stored-rows.ts'
import { linesAfter, RECORDED_BYTES } from '../rules/recording/recording.ts'
import type { Connection } from './database/connection.ts'
import { readLimit } from './write/response-writer.ts'
import { reading } from './database/reading.ts'
import type { WriterClient } from './write/writer-client.ts'

/** The responses that a store in SQLite keeps. */
export class SqliteResponses implements ResponseStore {
  readonly #writer: WriterClient
  readonly #db: Connection

  /** `db`: a connection for reading. */
  constructor(writer: WriterClient, db: Connection) {
    this.#writer = writer
    this.#db = db
  }

  async find(requests: readonly string[]): Promise<ReadonlyMap<string, KeptNote>> {
    return reading(() => {
      const notes = new Map<string, KeptNote>()
      for (const request of requests) {
        const sql = 'SELECT at, bytes FROM "$response" WHERE hash = ?'
        const row = this.#db.tuple(sql, hashBytes(request))
        if (row !== undefined) notes.set(request, { at: timeOf(row[0]) ?? '', bytes: Number(row[1]) })
      }
      return notes
    })
  }

  async read(request: string): Promise<KeptResponse | null> {
    return reading(() => {
      const sql = 'SELECT at, status, duration_ms, body FROM "$response" WHERE hash = ?'
      const row = this.#db.get(sql, hashBytes(request))
      return row === undefined ? null : keptResponse(request, row)
    })
  }

  async recorded(after: number): Promise<RecordedPage> {
    return reading(() => this.#db.query(linesAfter(after)))
  }

  async now(): Promise<string> {
    return new Date().toISOString()
  }

  async summary(): Promise<ResponsesSummary> {
    return reading(() => {
      const sql =
        'SELECT count(*) AS count, total(bytes) AS bytes, min(at) AS oldest, max(at) AS newest FROM "$response"'
      const recordedBytes = this.#db.query(RECORDED_BYTES)
      return responsesSummary(this.#db.get(sql), { limit: readLimit(this.#db), recordedBytes })
    })
  }

  trim(which: ResponseTrim): Promise<TrimResult> {
    return this.#writer.call('trimResponses', which)
  }

  async limit(): Promise<number> {
    return reading(() => readLimit(this.#db))
  }

  setLimit(bytes: number): Promise<TrimResult> {
    return this.#writer.call('limitResponses', bytes)
  }
}
