import type { LeafHashes } from '../../log-tree-store.ts'
import type { EntryHead, HistoryRange, LogText, LogTextQuery, PastPage } from '../../sheet-store.ts'
import type { RequestedField } from '../../fields/past-fields.ts'
import type { FieldsAsOf } from './history-reader.ts'
import type { TypedField } from '../sql/json-columns.ts'

/** The operations of the reading thread: reads that take long where values are long. */
export interface ReadingOperations {
  /** Returns the bytes of a line of the log; null when it does not contain the text. */
  line(request: LineRequest): Uint8Array | null
  /** Returns the JSON of these fields of the record with this key; null for none. */
  values(request: ValuesRequest): Uint8Array | null
  history(request: null): HistoryRange
  now(request: null): string
  logText(request: LogTextQuery): LogText | null
  seqAt(time: string): number
  recordAsOf(request: RecordAsOf): Uint8Array | null
  pageAsOf(request: FieldsAsOf): PastPage
  countAsOf(seq: number): number
  positionAsOf(request: Pick<RecordAsOf, 'id' | 'seq'>): number | null
  entryHead(request: HeadRequest): EntryHead | null
  leaves(request: LeavesRequest): LeafHashes
}

/** A request for the leaves of the lines after a seq, at most so many. */
export interface LeavesRequest {
  readonly after: number
  readonly limit: number
}

export interface LineRequest {
  readonly seq: number
  /** Null for any line. */
  readonly containing: string | null
}

export interface ValuesRequest {
  readonly key: number
  readonly fields: readonly TypedField[]
}

export interface HeadRequest {
  readonly seq: number
  readonly place: 'upTo' | 'after'
}

/** A request for a record right after an entry of the log. */
export interface RecordAsOf {
  readonly id: string
  readonly fields: readonly RequestedField[]
  readonly seq: number
}
