import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { LeafHashes } from '../../log-tree-store.ts'
import type { EntryHead, HistoryRange, LogText, LogTextQuery, PastPage } from '../../sheet-store.ts'
import { Connection } from '../database/connection.ts'
import { HistoryReader, historyRange, type FieldsAsOf } from './history-reader.ts'
import { entryTimeNow } from '../database/last-entry.ts'
import { lineOf, WHOLE_LINE } from './stored-line.ts'
import { readLogText } from './log-text.ts'
import type {
  HeadRequest,
  LeavesRequest,
  LineRequest,
  ReadingOperations,
  RecordAsOf,
  ValuesRequest,
} from './reading-protocol.ts'
import { readLeaves } from './read-leaves.ts'
import { recordJsonExpression } from '../sql/json-columns.ts'
import {
  failedResponse,
  transferable,
  type ThreadResponse,
  type ThreadRequest,
} from '../database/thread-client.ts'

type Handlers = {
  readonly [Name in keyof ReadingOperations]: (
    argument: Parameters<ReadingOperations[Name]>[0],
  ) => ReturnType<ReadingOperations[Name]> | Promise<ReturnType<ReadingOperations[Name]>>
}

/** The reading thread of a store: carries out reads that would block the main thread. */
class ReadingThread implements Handlers {
  readonly #db: Connection
  readonly #history: HistoryReader

  constructor(path: string) {
    this.#db = Connection.forReading(path)
    this.#history = new HistoryReader(this.#db)
  }

  listen(port: MessagePort): void {
    port.on('message', (request: ThreadRequest<keyof ReadingOperations>) => void this.#respond(port, request))
  }

  async #respond(
    port: MessagePort,
    { id, operation, argument }: ThreadRequest<keyof ReadingOperations>,
  ): Promise<void> {
    try {
      const value = await this[operation](argument as never)
      const bytes = value !== null && typeof value === 'object' && 'records' in value ? value.records : value
      const response: ThreadResponse = { id, outcome: { kind: 'done', value } }
      port.postMessage([response], transferable(bytes))
    } catch (error) {
      port.postMessage([failedResponse(id, error)])
    }
  }

  line({ seq, containing }: LineRequest): Uint8Array | null {
    const packed = containing === null ? this.#db.get(PACKED_LINE, seq) : undefined
    if (packed !== undefined) return new TextEncoder().encode(lineOf(packed))
    return this.#bytes(
      'SELECT CAST(line AS BLOB) AS bytes FROM "$provenance" WHERE seq = ?1 AND (?2 IS NULL OR instr(line, ?2) > 0)',
      seq,
      containing,
    )
  }

  values({ key, fields }: ValuesRequest): Uint8Array | null {
    const json = recordJsonExpression(fields)
    return this.#bytes(`SELECT CAST(${json} AS BLOB) AS bytes FROM "$data" WHERE "$seq" = ?`, key)
  }

  history(): HistoryRange {
    const range = historyRange(this.#db)
    if (range === null) throw new Error('no range without a bound')
    return range
  }

  now(): string {
    return entryTimeNow(this.#db)
  }

  logText(query: LogTextQuery): LogText | null {
    return readLogText(this.#db, query)
  }

  seqAt(time: string): number {
    return this.#history.seqAt(time)
  }

  recordAsOf({ id, fields, seq }: RecordAsOf): Promise<Uint8Array | null> {
    return this.#history.record(id, fields, seq)
  }

  pageAsOf(request: FieldsAsOf): Promise<PastPage> {
    return this.#history.page(request)
  }

  countAsOf(seq: number): Promise<number> {
    return this.#history.count(seq)
  }

  positionAsOf({ id, seq }: Pick<RecordAsOf, 'id' | 'seq'>): Promise<number | null> {
    return this.#history.position(id, seq)
  }

  entryHead({ seq, place }: HeadRequest): EntryHead | null {
    return this.#history.head(seq, place)
  }

  leaves({ after, limit }: LeavesRequest): LeafHashes {
    return readLeaves(this.#db, after, limit)
  }

  #bytes(sql: string, ...params: (string | number | null)[]): Uint8Array | null {
    const bytes = this.#db.get(sql, ...params)?.['bytes']
    return bytes instanceof Uint8Array ? bytes : null
  }
}

/** Selects a line with imported records. */
const PACKED_LINE = `SELECT ${WHOLE_LINE} FROM "$provenance" WHERE seq = ? AND packed IS NOT NULL`

if (parentPort !== null) new ReadingThread(String(workerData)).listen(parentPort)
