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
import { HASH_PREFIX, hashText } from '../rows/stored-rows.ts'
import { linesAfter, RECORDED_BYTES } from '../rules/recording/recording.ts'
import type { Connection } from './database/connection.ts'
import { readTime } from './database/database-clock.ts'
import { limitResponses, readLimit, trimResponses } from './write/response-writer.ts'
import type { Writer } from './write/writer.ts'

/** The responses that a store in PostgreSQL keeps. */
export class PostgresResponses implements ResponseStore {
  readonly #writer: Pick<Writer, 'change'>
  readonly #db: Connection

  constructor(writer: Pick<Writer, 'change'>, db: Connection) {
    this.#writer = writer
    this.#db = db
  }

  async find(requests: readonly string[]): Promise<ReadonlyMap<string, KeptNote>> {
    if (requests.length === 0) return new Map()
    const rows = await this.#db.all(
      `SELECT hash, at, bytes FROM "$response"
       WHERE hash IN (SELECT decode(wanted, 'hex') FROM unnest($1::text[]) AS wanted)`,
      requests.map((request) => request.slice(HASH_PREFIX.length)),
    )
    return new Map(
      rows.map(({ hash, at, bytes }) => [
        hashText(hash as Buffer),
        { at: timeOf(at) ?? '', bytes: Number(bytes) },
      ]),
    )
  }

  async read(request: string): Promise<KeptResponse | null> {
    const sql = `SELECT at, status, duration_ms, body FROM "$response" WHERE hash = decode($1, 'hex')`
    const row = await this.#db.get(sql, request.slice(HASH_PREFIX.length))
    return row === undefined ? null : keptResponse(request, row)
  }

  recorded(after: number): Promise<RecordedPage> {
    return this.#db.query(linesAfter(after))
  }

  now(): Promise<string> {
    return readTime(this.#db)
  }

  async summary(): Promise<ResponsesSummary> {
    const sql =
      'SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes, min(at) AS oldest, max(at) AS newest FROM "$response"'
    const recordedBytes = await this.#db.query(RECORDED_BYTES)
    return responsesSummary(await this.#db.get(sql), { limit: await readLimit(this.#db), recordedBytes })
  }

  trim(which: ResponseTrim): Promise<TrimResult> {
    return this.#writer.change((change) => trimResponses(change, which))
  }

  limit(): Promise<number> {
    return readLimit(this.#db)
  }

  setLimit(bytes: number): Promise<TrimResult> {
    return this.#writer.change((change) => limitResponses(change, bytes))
  }
}
